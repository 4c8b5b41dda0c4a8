/* cluster.h — blocks that run together and reach each other's shared memory: core/cluster.c. */
#pragma once
#include "grader/sim/code/cluster.h"
#include "grader/sim/core/core.h"

struct cluster {
    struct block *blocks;
    u32 n;
    u64 number;
    bool done;
    u32 passes;    /* how often all met */
    u32 orders;    /* how often something ordered what came before in all blocks */
    u32 start;     /* tick at which the cluster began: stamps before it are of others */
    bool released; /* of the barrier at hand: some thread came to it with .release */
    struct {
        const struct op *o; /* the last access from outside to the block's memory; NULL = none */
        u32 rank, warp, lane, orders;
    } last[CLUSTER_MAX_SIZE];
};

/* The launch's clusters: their size; which of them run, and the first cluster of each worker. */
void cluster_prepare(struct launch *l);
bool cluster_open(struct launch *l);
void cluster_free(const struct launch *l, struct cluster *c);
void cluster_work(struct worker *k, u32 most);

/* Lanes come to the barrier; or lanes have gone, and others wait for them no longer. */
void cluster_arrive(struct exec *x, const struct op *o, u32 mask);
void cluster_check(struct exec *x);
/* What all blocks did is ordered before what they do from now on. */
void cluster_order(struct exec *x);
/* The block of an address, or NULL with a report. `*offset`: in its shared memory. */
struct block *cluster_target(struct exec *x, const struct op *o, u32 lane, u64 address, u32 span,
                             u32 *offset);
/* The block whose shared memory, or its shadow, lies there in the simulator. */
struct block *cluster_holder(const struct exec *x, const void *p);
static inline bool cluster_is_away(const struct exec *x, u64 address) {
    u32 field = cluster_rank_field(address);
    return field && field != x->block->rank + 1;
}
