/* cluster.h — addresses in the shared memory of a cluster's blocks.
 *
 * A block's own shared memory begins at 0, in every block. `mapa` turns such an offset into an
 * address that means the same in all blocks of the cluster: bits 24 and up hold the block's rank
 * plus one. Generic addresses hold the same below SHARED_WINDOW. PTX leaves all of this to the
 * implementation; a block has less than 2^24 bytes. */
#pragma once
#include "grader/sim/code/code.h"

enum { CLUSTER_RANK_SHIFT = 24, CLUSTER_MAX_PORTABLE_SIZE = 8, CLUSTER_MAX_SIZE = 16 };

static inline u32 cluster_offset(u64 address) {
    return (u32)address & ((1u << CLUSTER_RANK_SHIFT) - 1);
}
/* Returns the rank plus one; 0 is the block's own memory, an address without mapa. */
static inline u32 cluster_rank_field(u64 address) { return (u32)address >> CLUSTER_RANK_SHIFT; }
