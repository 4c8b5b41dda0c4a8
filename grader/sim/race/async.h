/* async.h — copies that are under way: cp.async and bulk copies, from their issue until somebody
 * waited for them. */
#pragma once
#include "grader/sim/core/core.h"
#include "grader/sim/mem/tensor_tile.h"

enum async_kind {
    ASYNC_PER_THREAD /* cp.async */,
    ASYNC_BULK_TO_SHARED /* bulk, into shared memory */,
    ASYNC_BULK_FROM_SHARED /* …out of it */
};

/* What one instruction began, of the lanes that have the same group. */
struct async_copy {
    const struct op *o;
    u32 mask;        /* lanes whose copy is under way */
    u32 full_mask;   /* those that copy all of their bytes from memory: the rest is zeroes */
    u32 warp, group; /* how many groups the lanes had committed before */
    u32 bytes;       /* a lane */
    u32 mbarrier; /* 1 + offset of the mbarrier that it arrives at, 0 = none; in its phase of that
                    bit */
    u8 phase, kind;
    const struct block *issuer; /* that began it: in a cluster, it may write to another's memory */
    u32 shared[32];             /* offsets in shared memory */
    u64 global[32];             /* device addresses */
    struct memory_tile *tile;   /* of a copy into shared memory by a tensor map, whose source is no
                                   range; else NULL */
    u64 digest; /* …of its source, as of one out of shared memory by a tensor map; 0 = not kept */
};

/* Those of a block, and how many groups each thread has committed: of cp.async, of bulk copies. */
struct async_copies {
    struct async_copy *copies;
    u32 n, capacity;
    u32 *committed_groups[2]; /* by thread */
};

/* A block starts; its memory goes. */
void race_async_start(struct block *b);
void race_async_free(struct block *b);
/* cp.async: marks the targets as not there yet. `base` and `rel` as for an access; `global`: by
 * lane. */
void race_async_issue(struct exec *x, const struct op *o, u64 base, const s32 *rel, u32 mask,
                      u32 bytes, const u64 *global, u32 full_mask);
/* A bulk copy of a lane, from or to shared memory of that block; `barrier`: as in async_copy. */
void race_async_bulk(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, u64 global, u32 bytes, u32 barrier, u8 phase);
/* The same by a tensor map; a kind of ASYNC_BULK_FROM_SHARED may also change what it finds in
 * memory. */
void race_async_tile(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, const struct memory_tile *t, u32 barrier, u8 phase);
void race_async_commit(struct exec *x, u32 mask, bool bulk);
/* All groups but the last `left` of each lane are there; UINT32_MAX: all copies, committed or not.
 */
void race_async_wait(struct exec *x, const struct op *o, u32 mask, u32 max_pending, bool bulk);
/* The lane's copies arrive at an mbarrier, which is in that phase. */
void race_async_arrive(struct exec *x, u32 lane, u32 offset, u8 phase);
/* A lane has seen that phase of the mbarrier end. */
void race_async_phase_complete(struct exec *x, const struct op *o, u32 lane, u32 offset, u8 phase);
/* A lane looks at shared memory of that block that a copy under way will write. */
void race_async_report_unfinished(struct exec *x, struct block *b, const struct op *o, u32 lane,
                                  u64 offset, u32 bytes, const char *verb);
