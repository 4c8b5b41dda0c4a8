/* cluster.c — finds races in distributed shared memory between the blocks of a cluster.
 *
 * Besides the epochs of exec_shared.c, which distinguish threads of one block, each cell has two
 * epochs that distinguish the blocks of a cluster, of its last write and its last reads: the
 * block's rank, the tick and the thread. The worker's tick advances at every barrier of a block and
 * of the cluster. Accesses of two blocks race, if one is a write, unless something ordered the
 * blocks since: the cluster's barrier, or an acquire by an atomic, a strong load or an mbarrier,
 * which counts as a barrier of all blocks. Two threads of one block that access another's memory
 * are distinguished by the thread. Atomics and strong stores do not race with each other. */
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/race/race.h"

#include <stdio.h>

/* Fields of an epoch from the top: tick, rank, kind, warp, lane, sync epoch of the warp. 0 = never.
 */
enum {
    CLUSTER_EPOCH_LANE_SHIFT = 6,
    CLUSTER_EPOCH_WARP_SHIFT = 11,
    CLUSTER_EPOCH_KIND_SHIFT = 16,
    CLUSTER_EPOCH_RANK_SHIFT = 18,
    CLUSTER_EPOCH_CLOCK_SHIFT = 22
};
enum { KIND_PLAIN, KIND_ATOMIC, KIND_MANY_BLOCKS }; /* MANY_BLOCKS: several blocks read it. */

static u64 cluster_epoch(const struct exec *x, u32 lane) {
    return (u64)x->block->logical_clock << CLUSTER_EPOCH_CLOCK_SHIFT |
           (u64)x->block->cluster_rank << CLUSTER_EPOCH_RANK_SHIFT |
           (u64)x->warp->index << CLUSTER_EPOCH_WARP_SHIFT | (u64)lane << CLUSTER_EPOCH_LANE_SHIFT |
           (x->warp->sync_epoch & (RACE_WARP_SYNC_EPOCHS - 1));
}

static u32 epoch_clock(u64 s) { return (u32)(s >> CLUSTER_EPOCH_CLOCK_SHIFT); }
static u32 rank_of(u64 s) { return (u32)(s >> CLUSTER_EPOCH_RANK_SHIFT) & 15; }
static u32 kind_of(u64 s) { return (u32)(s >> CLUSTER_EPOCH_KIND_SHIFT) & 3; }
static u32 thread_of(u64 s) { return (u32)(s >> CLUSTER_EPOCH_LANE_SHIFT) & 1023; }
static u64 with_kind(u64 s, u32 kind) { return s | (u64)kind << CLUSTER_EPOCH_KIND_SHIFT; }

/* Returns true if two threads of one block race in another block's memory. */
static bool threads_conflict(const struct exec *x, u64 prior, u64 current) {
    bool is_same_warp = thread_of(prior) / 32 == x->warp->index;
    bool same_step_epoch = prior % RACE_WARP_SYNC_EPOCHS == current % RACE_WARP_SYNC_EPOCHS;
    return epoch_clock(prior) == x->block->logical_clock &&
           thread_of(prior) != thread_of(current) && (!is_same_warp || same_step_epoch);
}

static bool is_concurrent(const struct exec *x, const struct block *target, u64 prior,
                          u64 current) {
    if (!prior || epoch_clock(prior) < x->cluster->start_clock) return false;
    if (rank_of(prior) == x->block->cluster_rank && kind_of(prior) != KIND_MANY_BLOCKS)
        return target != x->block && threads_conflict(x, prior, current);
    return epoch_clock(prior) >= x->block->acquire_clock;
}

/* Returns the address that history.c has: an offset in the block's own shared memory, or a cluster
 * address where the access came from another block. */
static u64 history_address(const struct block *by, const struct block *target, u64 offset) {
    return by == target ? offset : (u64)(target->cluster_rank + 1) << CLUSTER_RANK_SHIFT | offset;
}

static void describe(const struct exec *x, const struct block *target, u64 offset, u64 prior,
                     bool prior_wrote, char *out, size_t size) {
    const struct block *other = &x->cluster->blocks[rank_of(prior)];
    const u32 t = thread_of(prior), *b = other->index;
    const char *past_verb = !prior_wrote                    ? "read"
                            : kind_of(prior) == KIND_ATOMIC ? "updated"
                                                            : "wrote";
    struct history_query w = {history_address(other, target, offset),
                              (u32)other->linear,
                              (int)t / 32,
                              (int)t % 32,
                              true,
                              race_access_kind(past_verb)};
    char thread[64], actor[128];
    describe_thread(x->worker->launch, t, thread, sizeof thread);
    snprintf(actor, sizeof actor, "thread %s of block (%u,%u,%u)", thread, b[0], b[1], b[2]);
    if (kind_of(prior) == KIND_MANY_BLOCKS)
        race_describe_many(x, &w, "other blocks", past_verb, out, size);
    else race_describe_other(x, &w, actor, past_verb, out, size);
}

static void report(struct exec *x, const struct block *target, const struct op *o, u32 lane,
                   u64 offset, u64 prior, bool current_reads, bool prior_wrote) {
    const u32 *at = target->index;
    char location[128], other_text[192];
    describe_shared_element(x->worker->launch, offset, x->mems[o->aux].width, location,
                            sizeof location);
    describe(x, target, offset, prior, prior_wrote, other_text, sizeof other_text);
    core_fault(x, SIM_FAULT_DSMEM_RACE, o, lane, offset,
               "%s %s of block (%u,%u,%u), which %s, with no %s barrier between",
               current_reads ? "reads" : "writes", location, at[0], at[1], at[2], other_text,
               kind_of(prior) != KIND_MANY_BLOCKS && rank_of(prior) == x->block->cluster_rank
                   ? "block"
                   : "cluster");
}

/* Returns the cell's read epoch after one more read. */
static u64 merge_read(const struct exec *x, const struct block *target, u64 old, u64 current) {
    bool others = (kind_of(old) == KIND_MANY_BLOCKS || rank_of(old) != x->block->cluster_rank) &&
                  is_concurrent(x, target, old, current);
    return others ? with_kind(current, KIND_MANY_BLOCKS) : current;
}

static void check_shadow_cell(struct exec *x, struct block *target, const struct op *o, u32 lane,
                              u64 cell, enum race_access_kind access) {
    u64 *w = target->remote_write_epochs + cell, *r = target->remote_read_epochs + cell,
        current = cluster_epoch(x, lane);
    bool read =
             access == RACE_READ || access == RACE_READ_REVALIDATED || access == RACE_STRONG_LOAD,
         acquires = access == RACE_STRONG_LOAD || access == RACE_ATOM;
    bool strong = acquires || access == RACE_RED, atomic = kind_of(*w) == KIND_ATOMIC;
    bool after_write = is_concurrent(x, target, *w, current),
         after_read = !read && is_concurrent(x, target, *r, current);
    if (after_write && atomic && access == RACE_READ_REVALIDATED)
        return; /* The thread's own atomic verifies the value. */
    if (after_write && atomic && acquires) {
        cluster_advance_epoch(x);
        current = cluster_epoch(x, lane);
        after_read = false;
    } else if ((after_write && !(strong && atomic)) || after_read)
        report(x, target, o, lane, cell << x->worker->launch->shared_shift, after_write ? *w : *r,
               read, after_write);
    if (access == RACE_READ || access == RACE_READ_REVALIDATED)
        *r = merge_read(x, target, *r, current);
    else if (access == RACE_WRITE) *w = current;
    else if (access != RACE_STRONG_LOAD) *w = with_kind(current, KIND_ATOMIC);
}

void race_cluster_access(struct exec *x, struct block *target, const struct op *o, u32 lane,
                         u64 offset, u32 span, enum race_access_kind access) {
    u32 shift = x->worker->launch->shared_shift;
    if (!target->remote_write_epochs) return;
    u64 address = history_address(x->block, target, offset);
    if (target != x->block)
        race_record_access(x, o, 0, true, address, address + span, 1u << lane, access);
    for (u64 g = offset >> shift; g <= (offset + span - 1) >> shift; g++)
        check_shadow_cell(x, target, o, lane, g, access);
}
