/* grid_barrier.h — the barrier over all blocks of a cooperative launch: core/grid_barrier.c. */
#pragma once
#include "grader/sim/core/core.h"

/* The barrier of a launch that has one. `word`: in the workspace that the launch was given. */
void grid_barrier_open(struct launch *l);
/* An atomic of `mask`, about to be done: true if it is its block's arrival at the barrier. */
bool grid_barrier_arrive(struct exec *x, const struct op *o, const struct mem_desc *d,
                         const u64 *ea, u32 mask);
/* Before `lanes` run the load at `o`, which may look whether all have come (OPF_GRID_POLL): true if
 * the warp has to wait until they have. */
bool grid_barrier_must_wait(struct exec *x, u32 lanes, const struct op *o);
/* Of a warp that waits: false if it is to look, since the word says that all have come. */
bool grid_barrier_still_waits(struct exec *x);
/* Of a load: the block's first look after all have come. */
bool grid_barrier_observes_release(struct exec *x, const struct mem_desc *d, const u64 *ea,
                                   u32 mask);
/* One of its warps waits for the grid. */
bool grid_barrier_has_waiters(const struct block *b);
/* No block gets any further: whoever waits looks at the word again and again from now on, as it
 * would on a GPU. */
void grid_barrier_abandon(struct worker *k);
/* What a block did since it last came, of a traced launch. */
void grid_barrier_record_work(struct launch *l, struct block *b);
/* What a block would have done that did as much as the busiest one in each phase. */
struct sim_block_work grid_barrier_max_work(const struct launch *l);
