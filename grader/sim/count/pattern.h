/* pattern.h — what a pattern of 32 addresses costs: sectors, wavefronts, multiplicity.
 * exec_pattern.c, for the exec_*.c of insn/. Rules: docs/counters.md. */
#pragma once
#include "grader/sim/core/lanes.h"

/* Fills a pattern from relative addresses (0 for inactive lanes), except for what depends on the
 * first address. `span`: bytes that a lane accesses. */
void ISAFN(pattern_fill)(struct access_pattern *m, const s32 rel[32], u32 mask, u8 space, u32 span);
/* Fills sectors_by_alignment[phase]; phase: the first active lane's address modulo 32. */
void ISAFN(pattern_sectors)(struct access_pattern *m, u32 phase, u8 space, u32 span);
/* Fills m->runs, which only race detection needs. */
void ISAFN(pattern_runs)(struct access_pattern *m, u32 span);
/* Adds the counts of lanes that lie too far apart for a pattern: each lane has its own sectors. */
void ISAFN(pattern_count_scattered)(u64 stats[STAT_COUNT], const u64 ea[32], u32 mask, u32 span);

/* Adds an access with that pattern; phase as above (local memory: modulo 4; shared memory: 0). */
static inline void pattern_count(u64 s[STAT_COUNT], struct access_pattern *m, u32 phase, u8 space,
                                 u32 span) {
    if (__builtin_expect(!(m->valid_alignments >> phase & 1), 0))
        ISAFN(pattern_sectors)(m, phase, space, span);
    u32 sectors = m->sectors_by_alignment[phase];
    s[STAT_REQUESTS]++;
    s[STAT_LANES] += m->lane_count;
    s[STAT_SECTORS] += sectors;
    s[STAT_IDEAL_SECTORS] += sectors < m->ideal_sectors ? sectors : m->ideal_sectors;
    s[STAT_WAVEFRONTS] += m->wavefronts;
    s[STAT_MIN_WAVEFRONTS] += m->min_wavefronts;
    s[STAT_OPS] += m->lane_count;
    s[STAT_SERIALIZED] += m->max_multiplicity;
    if (m->max_multiplicity > s[STAT_MAX_MULTIPLICITY])
        s[STAT_MAX_MULTIPLICITY] = m->max_multiplicity;
}

/* Adds an atomic that one lane does for the warp. */
static inline void pattern_count_aggregated(u64 s[STAT_COUNT], struct access_pattern *m, u32 phase,
                                            u8 space, u32 span) {
    u64 old_ops = s[STAT_OPS], old_serial = s[STAT_SERIALIZED], old_max = s[STAT_MAX_MULTIPLICITY];
    pattern_count(s, m, phase, space, span);
    s[STAT_OPS] = old_ops + 1;
    s[STAT_SERIALIZED] = old_serial + 1;
    s[STAT_MAX_MULTIPLICITY] = old_max ? old_max : 1;
}
