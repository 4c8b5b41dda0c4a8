/* clock_scheduler.h — the clock-ordered schedule for blocks that poll each other in a traced
 * launch: core/clock_scheduler.c. */
#pragma once
#include "grader/sim/core/core.h"

/* Cycles from a block's start to its first instruction: instruction fetch, constants. */
static const double block_start_cycles = 200;
/* Cycles from one block's start to the next one's, on whichever SM. Measured: empty kernels of 8448
 * and 67584 blocks of 32 to 1024 threads on an H100, 0.60 to 0.68 ns a block. */
static const double block_dispatch_cycles = 1.2;

/* Prepare a launch for the clock scheduler; free what it needed. */
void clock_sched_open(struct launch *l);
void clock_sched_close(struct launch *l);
/* Runs all blocks, with at most `max_resident` at a time. */
void clock_sched_run(struct worker *k, u32 max_resident);
/* Called before `lanes` of the warp run the op at `o`, an interblock synchronization
 * (OPF_INTERBLOCK_SYNC). Returns true if the warp's timeslice ends here. */
bool clock_sched_yields(struct exec *x, struct warp *w, u32 lanes, const struct op *o);
