/* async.h — copies in flight: cp.async and bulk copies, from their issue until a thread has waited
 * for them. The instructions of grader/sim/insn/exec_async.c call these functions. */
#pragma once
#include "grader/sim/core/core.h"
#include "grader/sim/mem/tensor_tile.h"

enum async_kind {
    ASYNC_PER_THREAD,      /* cp.async */
    ASYNC_BULK_TO_SHARED,  /* a bulk copy into shared memory */
    ASYNC_BULK_FROM_SHARED /* a bulk copy out of shared memory */
};

#define RACE_WAIT_FOR_ALL UINT32_MAX /* race_async_wait: for copies of no group, too */

/* The copies that one instruction began, of the lanes that have the same group. */
struct async_copy {
    const struct op *o;
    u32 lanes_in_flight;
    /* Lanes whose source and target hold the same `bytes` bytes. The other lanes fill a part of
     * their target with zeroes, or have no range in global memory. */
    u32 compared_lanes;
    /* Lanes that copy the same bytes to the same target as another lane of the instruction; those
     * of them of which another lane has completed. */
    u32 duplicate_lanes, settled_lanes;
    u32 warp, group;     /* group: the number of groups that the lanes had committed before */
    u32 bytes;           /* for each lane */
    u32 mbarrier_plus_1; /* 1 + offset of the mbarrier at which it arrives; 0 = none */
    u8 phase, kind;      /* phase: parity of the mbarrier's phase; kind: enum async_kind */
    const struct block *issuer; /* in a cluster, it may write to another block's memory */
    u32 shared[32];             /* offsets in shared memory */
    u64 global[32];             /* device addresses */
    /* The source of a copy into shared memory by a tensor map, which is no range; else NULL. */
    struct memory_tile *tile;
    u64 source_hash; /* of a copy out of shared memory, or by a tensor map */
};

/* The copies of a block, and how many groups each thread has committed: [false] of cp.async, [true]
 * of bulk copies. */
struct async_copies {
    struct async_copy *copies;
    u32 n, capacity;
    u32 *committed_groups[2]; /* by thread */
};

/* Drops a block's copies when a block starts; frees them. */
void race_async_reset_block(struct block *b);
void race_async_free(struct block *b);
/* Records a cp.async and marks its targets as pending. `base` and `lane_offsets` are as for an
 * access; `global` has the sources by lane; `full_mask` the lanes that fill nothing with zeroes. */
void race_async_issue(struct exec *x, const struct op *o, u64 base, const s32 *lane_offsets,
                      u32 mask, u32 bytes, const u64 *global, u32 full_mask);
/* Records a lane's bulk copy from or to shared memory of that block; `mbarrier_plus_1`
 * as in struct async_copy. `global`: the other end, 0 if that is shared memory, too. */
void race_async_bulk(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, u64 global, u32 bytes, u32 mbarrier_plus_1, u8 phase);
/* Does the same for a copy by a tensor map. ASYNC_BULK_FROM_SHARED includes reductions, which
 * combine the tile with what is in memory. */
void race_async_tile(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, const struct memory_tile *t, u32 mbarrier_plus_1,
                     u8 phase);
/* Commits the lanes' copies since their last commit as a group. */
void race_async_commit(struct exec *x, u32 mask, bool bulk);
/* Completes all groups of each lane but the last `max_pending`; RACE_WAIT_FOR_ALL completes all
 * copies, committed or not. */
void race_async_wait(struct exec *x, const struct op *o, u32 mask, u32 max_pending, bool bulk);
/* Binds the lane's copies to an mbarrier in that phase (cp.async.mbarrier.arrive). */
void race_async_arrive(struct exec *x, u32 lane, u32 offset, u8 phase);
/* Completes the copies that arrive in that phase of the mbarrier: a lane has seen it end. */
void race_async_phase_complete(struct exec *x, const struct op *o, u32 lane, u32 offset, u8 phase);
/* Reports a copy out of the block's shared memory that is in flight when the block ends. */
void race_async_check_exit(struct exec *x);
/* Reports an access to shared memory of that block that a copy in flight will write. */
void race_async_report_unfinished(struct exec *x, struct block *b, const struct op *o, u32 lane,
                                  u64 offset, u32 bytes, const char *verb);
