/* pattern.h — (lanes_pattern.c, for lanes_*.c) what a pattern of 32 addresses costs: sectors,
 * wavefronts, multiplicity. Rules: docs/counters.md. */
#pragma once
#include "grader/sim/core/lanes.h"

/* Fills a memo from relative addresses (0 for inactive lanes), but for what depends on the first
 * address. `span`: bytes a lane accesses. */
void ISAFN(pattern_fill)(struct mem_memo *m, const s32 rel[32], u32 mask, u8 space, u32 span);
/* Fills sectors_at[phase], for a first active lane's address of `phase` modulo 32. */
void ISAFN(pattern_sectors)(struct mem_memo *m, u32 phase, u8 space, u32 span);
/* Fills run, leaders and twins, which only the search for races asks for. */
void ISAFN(pattern_runs)(struct mem_memo *m, u32 span);
/* Adds the counts of lanes that lie too far apart for a memo: each lane its own sectors. */
void ISAFN(pattern_count_far)(u64 stats[STAT_COUNT], const u64 ea[32], u32 mask, u32 span);

/* Adds an access of that pattern, whose first address is `phase` modulo 32 (local memory: 4;
 * shared: 0). */
static inline void pattern_count(u64 s[STAT_COUNT], struct mem_memo *m, u32 phase, u8 space,
                                 u32 span) {
    if (__builtin_expect(!(m->known >> phase & 1), 0))
        ISAFN(pattern_sectors)(m, phase, space, span);
    u32 sectors = m->sectors_at[phase];
    s[STAT_REQUESTS]++;
    s[STAT_LANES] += m->lanes;
    s[STAT_SECTORS] += sectors;
    s[STAT_IDEAL] += sectors < m->packed ? sectors : m->packed;
    s[STAT_WAVEFRONTS] += m->wavefronts;
    s[STAT_MIN_WAVEFRONTS] += m->min_wavefronts;
    s[STAT_OPS] += m->lanes;
    s[STAT_SERIAL] += m->max;
    if (m->max > s[STAT_MAX]) s[STAT_MAX] = m->max;
}

/* The same for an atomic that one lane does for the warp. */
static inline void pattern_count_aggregated(u64 s[STAT_COUNT], struct mem_memo *m, u32 phase,
                                            u8 space, u32 span) {
    u64 ops = s[STAT_OPS], serial = s[STAT_SERIAL], most = s[STAT_MAX];
    pattern_count(s, m, phase, space, span);
    s[STAT_OPS] = ops + 1;
    s[STAT_SERIAL] = serial + 1;
    s[STAT_MAX] = most ? most : 1;
}
