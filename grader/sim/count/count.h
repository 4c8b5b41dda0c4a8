/* count.h — counting. counters.def lists the counters; counters.c adds, scales and names them
 * (declared in sim.h); pattern.h computes what a pattern of addresses costs; inflight.h follows
 * asynchronous copies; collect.c sums up a launch. */
#pragma once
#include "grader/sim/core/core.h"

/* Sums the workers' counts into the result, by source line. Counts of sampled blocks are scaled to
 * the full grid. */
void count_collect(struct launch *l, struct sim_result *out);
/* reloads.c: sets, by statistics slot, the sectors that evict-first loads load again. */
void count_reloads(const struct launch *l, u64 *reloads);
