/* exec_async.h — what bulk copies share, of ranges (exec_async.c) and of tiles (exec_tensor.c).
 */
#pragma once
#include "grader/sim/core/cluster.h"
#include "grader/sim/insn/exec_mem.h"

/* The mbarrier at an address in shared memory, or NULL with a report; `fresh`: it is about to be
 * initialised. */
u64 *ISAFN(lane_mbarrier_at)(struct exec *x, const struct op *o, u64 address, u32 lane,
                             bool is_init);
/* So many bytes have come to it. */
void ISAFN(lane_mbarrier_complete_tx)(struct exec *x, const struct op *o, u32 lane, u64 *mbarrier,
                                      u32 bytes);
u32 ISAFN(lane_mbarrier_phase)(u64 word);
/* Bytes of shared memory, of the block or of another one of the cluster, and their shadow; NULL
 * with a report. */
unsigned char *ISAFN(lane_bulk_shared)(struct exec *x, const struct op *o, u64 from, u32 n,
                                       u32 lane, unsigned char **written);
/* One end of a copy, counted under its slot (code/async.h). */
void ISAFN(lane_bulk_count)(struct exec *x, const struct op *o, u32 slot, u64 from, u32 n);
/* That end in the block's own shared memory, as an access of the lane. */
void ISAFN(lane_bulk_check_race)(struct exec *x, const struct op *o, u32 lane, u64 address, u32 n,
                                 enum race_access_kind access);

/* Copies arrive at mbarriers of the block that they write to, whose threads wait there: at
 * another's they are not followed. */
static inline bool mbarrier_is_local(const struct exec *x, const void *pointer) {
    return cluster_block_containing(x, pointer) == x->block;
}
static inline u32 shared_offset(const struct block *b, const void *pointer) {
    return (u32)((const unsigned char *)pointer - b->shared);
}
