/* cluster.c — races in shared memory between the blocks of a cluster.
 *
 * Beside the stamps of lanes_shared.c, which tell threads of one block apart, each granule has two
 * stamps that tell the blocks of a cluster apart, of its last write and its last reads: which
 * block, when, and which thread of it. Time is the worker's tick, which goes on at every barrier of
 * a block and of the cluster. Accesses of two blocks race, if one is a write, unless something
 * ordered the blocks since: the cluster's barrier, or what an atomic, a strong load or an mbarrier
 * hands over, which counts as a barrier of all. Two threads of one block that reach into another
 * are told apart by the thread. Atomics and strong stores do not race with each other. */
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/place.h"
#include "grader/sim/race/race.h"

#include <stdio.h>

/* From the top: tick, rank, kind, warp, lane, interval of the warp. 0 = never. */
enum { AT_LANE = 6, AT_WARP = 11, AT_KIND = 16, AT_RANK = 18, AT_TICK = 22 };
enum { KIND_PLAIN, KIND_ATOMIC, KIND_BLOCKS /* read by several */ };

static u64 my_stamp(const struct exec *x, u32 lane) {
    return (u64)x->block->logical_clock << AT_TICK | (u64)x->block->cluster_rank << AT_RANK |
           (u64)x->warp->index << AT_WARP | (u64)lane << AT_LANE |
           (x->warp->sync_epoch & (RACE_WARP_INTERVALS - 1));
}

static u32 tick_of(u64 s) { return (u32)(s >> AT_TICK); }
static u32 rank_of(u64 s) { return (u32)(s >> AT_RANK) & 15; }
static u32 kind_of(u64 s) { return (u32)(s >> AT_KIND) & 3; }
static u32 thread_of(u64 s) { return (u32)(s >> AT_LANE) & 1023; }
static u64 with_kind(u64 s, u32 kind) { return s | (u64)kind << AT_KIND; }

/* Of one block that reaches into another: as threads of a block at each other. */
static bool threads_clash(const struct exec *x, u64 theirs, u64 mine) {
    bool warp = thread_of(theirs) / 32 == x->warp->index;
    bool step = theirs % RACE_WARP_INTERVALS == mine % RACE_WARP_INTERVALS;
    return tick_of(theirs) == x->block->logical_clock && thread_of(theirs) != thread_of(mine) &&
           (!warp || step);
}

static bool unordered(const struct exec *x, const struct block *target, u64 theirs, u64 mine) {
    if (!theirs || tick_of(theirs) < x->cluster->start_clock) return false;
    if (rank_of(theirs) == x->block->cluster_rank && kind_of(theirs) != KIND_BLOCKS)
        return target != x->block && threads_clash(x, theirs, mine);
    return tick_of(theirs) >= x->block->acquire_clock;
}

/* What was accessed, for past.c: as an offset of the block's own memory, or as an address from
 * outside. */
static u64 place_for(const struct block *by, const struct block *target, u64 offset) {
    return by == target ? offset : (u64)(target->cluster_rank + 1) << CLUSTER_RANK_SHIFT | offset;
}

static void describe(const struct exec *x, const struct block *target, u64 offset, u64 theirs,
                     bool they_wrote, char *out, size_t size) {
    const struct block *other = &x->cluster->blocks[rank_of(theirs)];
    const u32 t = thread_of(theirs), *b = other->index;
    const char *did = !they_wrote ? "read" : kind_of(theirs) == KIND_ATOMIC ? "updated" : "wrote";
    struct race_wanted w = {place_for(other, target, offset),
                            (u32)other->linear,
                            (int)t / 32,
                            (int)t % 32,
                            true,
                            race_did(did)};
    char thread[64], who[128];
    describe_thread(x->worker->launch, t, thread, sizeof thread);
    snprintf(who, sizeof who, "thread %s of block (%u,%u,%u)", thread, b[0], b[1], b[2]);
    if (kind_of(theirs) == KIND_BLOCKS) race_describe_many(x, &w, "other blocks", did, out, size);
    else race_describe_other(x, &w, who, did, out, size);
}

static void report(struct exec *x, const struct block *target, const struct op *o, u32 lane,
                   u64 offset, u64 theirs, bool i_read, bool they_wrote) {
    const u32 *at = target->index;
    char where[128], other[192];
    describe_shared_element(x->worker->launch, offset, x->mems[o->aux].width, where, sizeof where);
    describe(x, target, offset, theirs, they_wrote, other, sizeof other);
    core_fault(x, SIM_FAULT_DSMEM_RACE, o, lane, offset,
               "%s %s of block (%u,%u,%u), which %s, with no %s barrier between",
               i_read ? "reads" : "writes", where, at[0], at[1], at[2], other,
               kind_of(theirs) != KIND_BLOCKS && rank_of(theirs) == x->block->cluster_rank
                   ? "block"
                   : "cluster");
}

/* What the reads of a granule are after one more. */
static u64 join(const struct exec *x, const struct block *target, u64 old, u64 mine) {
    bool others = (kind_of(old) == KIND_BLOCKS || rank_of(old) != x->block->cluster_rank) &&
                  unordered(x, target, old, mine);
    return others ? with_kind(mine, KIND_BLOCKS) : mine;
}

static void one(struct exec *x, struct block *target, const struct op *o, u32 lane, u64 granule,
                enum race_access_kind access) {
    u64 *w = target->remote_write_epochs + granule, *r = target->remote_read_epochs + granule,
        mine = my_stamp(x, lane);
    bool read =
             access == RACE_READ || access == RACE_READ_REVALIDATED || access == RACE_STRONG_LOAD,
         sees = access == RACE_STRONG_LOAD || access == RACE_ATOM;
    bool strong = sees || access == RACE_RED, atomic = kind_of(*w) == KIND_ATOMIC;
    bool after_write = unordered(x, target, *w, mine),
         after_read = !read && unordered(x, target, *r, mine);
    if (after_write && atomic && access == RACE_READ_REVALIDATED)
        return; /* an atomic of its own checks it again */
    if (after_write && atomic && sees) {
        cluster_advance_epoch(x);
        mine = my_stamp(x, lane);
        after_read = false;
    } else if ((after_write && !(strong && atomic)) || after_read)
        report(x, target, o, lane, granule << x->worker->launch->shared_shift,
               after_write ? *w : *r, read, after_write);
    if (access == RACE_READ || access == RACE_READ_REVALIDATED) *r = join(x, target, *r, mine);
    else if (access == RACE_WRITE) *w = mine;
    else if (access != RACE_STRONG_LOAD) *w = with_kind(mine, KIND_ATOMIC);
}

void race_cluster(struct exec *x, struct block *target, const struct op *o, u32 lane, u64 offset,
                  u32 span, enum race_access_kind access) {
    u32 shift = x->worker->launch->shared_shift;
    if (!target->remote_write_epochs) return;
    u64 place = place_for(x->block, target, offset);
    if (target != x->block) race_remember(x, o, 0, true, place, place + span, 1u << lane, access);
    for (u64 g = offset >> shift; g <= (offset + span - 1) >> shift; g++)
        one(x, target, o, lane, g, access);
}
