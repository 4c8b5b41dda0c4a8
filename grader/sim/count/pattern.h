/* pattern.h — (lanes_pattern.c, for lanes_*.c) what a pattern of 32 addresses costs: sectors, wavefronts, multiplicity. Rules: docs/counters.md. */
#pragma once
#include "grader/sim/core/lanes.h"

/* Fills a memo from relative addresses (0 for inactive lanes), but for what depends on the first address. `span`: bytes
 * a lane accesses. */
void ISAFN(pattern_fill)(struct mem_memo *m, const s32 rel[32], u32 mask, u8 space, u32 span);
/* Fills sectors_at[phase], for a first active lane's address of `phase` modulo 32. */
void ISAFN(pattern_sectors)(struct mem_memo *m, u32 phase, u8 space, u32 span);
/* Fills run, leaders and twins, which only the search for races asks for. */
void ISAFN(pattern_runs)(struct mem_memo *m, u32 span);
/* Adds the counts of lanes that lie too far apart for a memo: each lane its own sectors. */
void ISAFN(pattern_count_far)(u64 stats[STAT_COUNT], const u64 ea[32], u32 mask, u32 span);
/* Adds an access of that pattern, whose first address is `phase` modulo 32 (local memory: 4; shared: 0). */
void ISAFN(pattern_count)(u64 stats[STAT_COUNT], struct mem_memo *m, u32 phase, u8 space, u32 span);
/* The same for an atomic that one lane does for the warp. */
void ISAFN(pattern_count_aggregated)(u64 stats[STAT_COUNT], struct mem_memo *m, u32 phase, u8 space, u32 span);
