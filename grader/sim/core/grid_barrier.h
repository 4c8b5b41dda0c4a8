/* grid_barrier.h — the grid barrier of a cooperative launch: core/grid_barrier.c. */
#pragma once
#include "grader/sim/core/core.h"

/* Sets up the barrier of a cooperative launch in its workspace. */
void grid_barrier_open(struct launch *l);
/* Returns true if an atomic of the lanes in `mask`, before it executes, is the block's arrival. */
bool grid_barrier_arrive(struct exec *x, const struct op *o, const struct mem_desc *d,
                         const u64 *ea, u32 mask);
/* Called before `lanes` run the load at `o`, which may poll the barrier (OPF_GRID_POLL). Returns
 * true if the warp must wait. */
bool grid_barrier_must_wait(struct exec *x, u32 lanes, const struct op *o);
/* Returns true if a waiting warp must go on waiting; false if the word says that the barrier is
 * complete: the warp then polls. */
bool grid_barrier_still_waits(struct exec *x);
/* Returns true if a load is the block's first poll after the completion. */
bool grid_barrier_observes_release(struct exec *x, const struct mem_desc *d, const u64 *ea,
                                   u32 mask);
/* Returns true if one of the block's warps waits at the barrier. */
bool grid_barrier_has_waiters(const struct block *b);
/* Gives the barrier up, because no block can proceed: waiters poll the word from now on, as on a
 * GPU. */
void grid_barrier_abandon(struct worker *k);
/* Records a block's work since its last arrival, in a traced launch. */
void grid_barrier_record_work(struct launch *l, struct block *b);
/* Returns the sum over all phases of the busiest block's work. */
struct sim_block_work grid_barrier_max_work(const struct launch *l);
