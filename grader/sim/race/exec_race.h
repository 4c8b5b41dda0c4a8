/* exec_race.h — the race detector's functions that loads, stores and atomics call, compiled once
 * for each level of the host's vector instructions. */
#pragma once
#include "grader/sim/core/lanes.h"

/* exec_shared.c: checks and records an access that is in bounds. `rel` is relative to `base`, 0 for
 * inactive lanes; `m` is its access pattern, or NULL. */
void ISAFN(race_shared_access)(struct exec *x, const struct op *o, struct access_pattern *m,
                               u64 base, const s32 *rel, u32 mask, u32 span,
                               enum race_access_kind access);
/* exec_shared.c: does the same for plain reads of words, one after the other, as native code does
 * them. `base` and `m` have the first address and the pattern of each group. */
struct repeated_load;
void ISAFN(race_shared_reads)(struct exec *x, const struct repeated_load *loads, u32 n,
                              const u64 *base, struct access_pattern *const *m, u32 mask);
/* exec_global.c: `base` is the address of the first active lane. Call these before a store writes
 * memory: they compare its registers with what is there. */
void ISAFN(race_global_access)(struct exec *x, const struct op *o, u32 stat,
                               struct access_pattern *m, u64 base, u32 span,
                               enum race_access_kind access);
void ISAFN(race_global_lane_access)(struct exec *x, const struct op *o, u32 stat, u32 lane,
                                    u64 address, u32 span, enum race_access_kind access);
