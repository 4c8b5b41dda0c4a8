/* cluster.h — blocks that run together and reach each other's shared memory: core/cluster.c. */
#pragma once
#include "grader/sim/code/cluster.h"
#include "grader/sim/core/core.h"

struct cluster {
    struct block *blocks;
    u32 nblocks;
    u64 cluster_id;
    bool done;
    u32 barrier_generation;   /* how often all met */
    u32 sync_epoch;           /* how often something ordered what came before in all blocks */
    u32 start_clock;          /* tick at which the cluster began: stamps before it are of others */
    bool has_release_arrival; /* of the barrier at hand: some thread came to it with .release */
    struct {
        const struct op *op; /* the last access from outside to the block's memory; NULL = none */
        u32 rank, warp, lane, sync_epoch;
    } last_remote_access[CLUSTER_MAX_SIZE];
};

/* The launch's clusters: their size; which of them run, and the first cluster of each worker. */
void cluster_set_dims(struct launch *l);
bool cluster_open(struct launch *l);
void cluster_free(const struct launch *l, struct cluster *c);
void cluster_run_worker(struct worker *k, u32 max_resident);

/* Lanes come to the barrier; or lanes have gone, and others wait for them no longer. */
void cluster_arrive(struct exec *x, const struct op *o, u32 mask);
void cluster_try_release(struct exec *x);
/* What all blocks did is ordered before what they do from now on. */
void cluster_advance_epoch(struct exec *x);
/* The block of an address, or NULL with a report. `*offset`: in its shared memory. */
struct block *cluster_resolve_address(struct exec *x, const struct op *o, u32 lane, u64 address,
                                      u32 span, u32 *offset);
/* The block whose shared memory, or its shadow, lies there in the simulator. */
struct block *cluster_block_containing(const struct exec *x, const void *p);
static inline bool cluster_is_remote(const struct exec *x, u64 address) {
    u32 field = cluster_rank_field(address);
    return field && field != x->block->cluster_rank + 1;
}
