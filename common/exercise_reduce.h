/* exercise_reduce.h — counts and limits shared by the exercises that reduce argument 1 (dim[0]
 * elements of 4 bytes) to one value, with atomics at the end. */
#pragma once
#include "common/exercise_limits.h"

static inline size_t ex_reduce_count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static inline size_t ex_reduce_result(const struct ex_case *c) {
    (void)c;
    return 1;
}
static inline double ex_reduce_bytes(const struct ex_case *c) { return 4.0 * ex_reduce_count(c); }
static inline double ex_reduce_flops(const struct ex_case *c) { return ex_reduce_count(c); }

/* One atomic for 256 elements or more, and few stores: a version may not replace atomics by stores
 * that another kernel then reads. */
static inline void ex_require_block_reduction(const char *reason) {
    ex_require_at_most_per("atomic_operations", ex_element_count(1) / 256, "256 elements", 1,
                           reason);
    ex_require_at_most_per("device_write_accesses", ex_element_count(1) / 256, "256 elements", 2,
                           reason);
}

/* Contended atomics on a word in shared memory are faster, but not free. Use it together with the
 * limit above: a version whose atomics are all in global memory meets this one. */
static inline void ex_require_warp_reduction(const char *atomics_reason,
                                             const char *barriers_reason) {
    ex_require_at_most_per("shared_atomic_operations", ex_element_count(1) / 32, "warp of elements",
                           1, atomics_reason);
    ex_require_at_most_per("barriers", ex_element_count(1) / 256, "256 elements", 16,
                           barriers_reason);
    ex_require_at_most_per("shared_read_requests_total", ex_element_count(1) / 256, "256 elements",
                           20, "one word a warp goes through shared memory");
    ex_require_at_most_per("device_read_sectors", ex_element_count(1) / 8, "sector of the input",
                           1.25, "sums in global memory are read there once more");
}

/* Guard. */
static inline void ex_require_coalesced_reduce_loads(void) {
    ex_require_coalesced_loads(1.125, "neighbouring threads look at neighbouring elements");
}
