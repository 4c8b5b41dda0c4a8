/* exec_async.h — what bulk copies of ranges (exec_async.c) and of tiles (exec_tensor.c) share. */
#pragma once
#include "grader/sim/core/cluster.h"
#include "grader/sim/insn/exec_mem.h"

/* Returns the mbarrier at an address in shared memory, or NULL after a report. `is_init`: the op is
 * about to initialize it. */
u64 *ISAFN(lane_mbarrier_at)(struct exec *x, const struct op *o, u64 address, u32 lane,
                             bool is_init);
/* Completes `bytes` of the mbarrier's transactions. */
void ISAFN(lane_mbarrier_complete_tx)(struct exec *x, const struct op *o, u32 lane, u64 *mbarrier,
                                      u32 bytes);
u32 ISAFN(lane_mbarrier_phase)(u64 word);
/* Returns bytes of shared memory, of the block or of another one of the cluster, and sets *written
 * to their shadow; NULL after a report. */
unsigned char *ISAFN(lane_bulk_shared)(struct exec *x, const struct op *o, u64 from, u32 n,
                                       u32 lane, unsigned char **written);
/* Counts one end of a copy under its slot (code/async.h). */
void ISAFN(lane_bulk_count)(struct exec *x, const struct op *o, u32 slot, u64 from, u32 n);
/* Checks that end for races, as an access by the lane to the block's own shared memory. */
void ISAFN(lane_bulk_check_race)(struct exec *x, const struct op *o, u32 lane, u64 address, u32 n,
                                 enum race_access_kind access);

/* Returns true if the mbarrier is in the block's own shared memory. The threads that wait for a
 * copy are there; copies that signal another block's mbarrier are not tracked. */
static inline bool mbarrier_is_local(const struct exec *x, const void *pointer) {
    return cluster_block_containing(x, pointer) == x->block;
}
static inline u32 shared_offset(const struct block *b, const void *pointer) {
    return (u32)((const unsigned char *)pointer - b->shared);
}
