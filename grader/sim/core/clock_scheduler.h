/* clock_scheduler.h — blocks of a launch whose time is modelled, and that look at what others
 * leave, get on as they might on the device: core/clock_scheduler.c. */
#pragma once
#include "grader/sim/core/core.h"

/* From a block's start to its first instruction: fetch, constants. */
static const double block_start_cycles = 200;
/* Clocks of the device from one block's start to the next one's, wherever they go: empty kernels of
 * 8448 and 67584 blocks of 32 to 1024 threads on an H100, 0.60 to 0.68 ns a block. */
static const double block_dispatch_cycles = 1.2;

void clock_sched_open(struct launch *l);
void clock_sched_close(struct launch *l);
/* Runs all blocks, of which `most` find room at one time. */
void clock_sched_run(struct worker *k, u32 max_resident);
/* Before `lanes` of the warp run the op at `o`, by which blocks hand each other things
 * (OPF_INTERBLOCK_SYNC): true if its turn ends here. */
bool clock_sched_yields(struct exec *x, struct warp *w, u32 lanes, const struct op *o);
