/* cluster.h — clusters: blocks that run together and access each other's shared memory:
 * core/cluster.c. */
#pragma once
#include "grader/sim/code/cluster.h"
#include "grader/sim/core/core.h"

struct cluster {
    struct block *blocks;
    u32 nblocks;
    u64 cluster_id;
    bool done;
    u32 barrier_generation; /* how often the barrier has completed */
    u32 sync_epoch;         /* how often all blocks' earlier accesses have been ordered */
    /* the logical clock at the cluster's start; earlier epochs belong to other clusters */
    u32 start_clock;
    bool has_release_arrival; /* a thread arrived with .release in the current phase */
    struct {
        const struct op *op; /* the last remote access to the block's shared memory; NULL = none */
        u32 rank, warp, lane, sync_epoch;
    } last_remote_access[CLUSTER_MAX_SIZE];
};

/* cluster_set_dims sets the size of the launch's clusters; cluster_open lists those to run, and
 * allocates each worker's first one. */
void cluster_set_dims(struct launch *l);
bool cluster_open(struct launch *l);
void cluster_free(const struct launch *l, struct cluster *c);
void cluster_run_worker(struct worker *k, u32 max_resident);

/* cluster_arrive: lanes arrive at the barrier. cluster_try_release: also after lanes have exited.
 */
void cluster_arrive(struct exec *x, const struct op *o, u32 mask);
void cluster_try_release(struct exec *x);
/* Orders all blocks' earlier accesses before their later ones. */
void cluster_advance_epoch(struct exec *x);
/* Returns the block that an address belongs to, or NULL with a report. `*offset` is in its shared
 * memory. */
struct block *cluster_resolve_address(struct exec *x, const struct op *o, u32 lane, u64 address,
                                      u32 span, u32 *offset);
/* Returns the block whose shared memory, or its shadow, holds the host pointer. */
struct block *cluster_block_containing(const struct exec *x, const void *p);
static inline bool cluster_is_remote(const struct exec *x, u64 address) {
    u32 field = cluster_rank_field(address);
    return field && field != x->block->cluster_rank + 1;
}
