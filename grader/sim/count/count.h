/* count.h — counting: counters.def is the one list of counters, counters.c adds, scales and names
 * them (declared in sim.h), pattern.h says what a pattern of addresses costs, collect.c makes
 * counters of what the workers of a launch counted. */
#pragma once
#include "grader/sim/core/core.h"

/* Sums the workers' counts into the result, by source line; of a sample of the blocks, scaled to
 * all of them. */
void count_collect(struct launch *l, struct sim_result *out);
