/* exercise_fusion.h — counts and guards shared by the exercises that fuse kernels over n floats;
 * tests of chapter 07 include it. */
#pragma once
#include "common/exercise_limits.h"

static inline size_t ex_fusion_count(const struct ex_case *c) { return (size_t)c->dim[0]; }
/* Returns a scalar factor below 3 in magnitude, rounded to float, so that the reference uses the
 * same value as the entry. */
static inline double ex_fusion_factor(const struct ex_case *c, struct ex_rng *r) {
    (void)c;
    return (float)ex_uniform(r, -3, 3);
}

/* Each element needs `loads` loads and one store; threads exchange nothing. The limit of 4 shared
 * requests for 32 elements allows asynchronous copies of the inputs to shared memory and a counter
 * of tiles there: CUB's DeviceTransform makes 3.8 for two inputs. Three steps that pass elements on
 * through shared memory make 8. */
static inline void ex_require_fused_in_registers(double loads, const char *load_reason,
                                                 const char *store_reason) {
    ex_require_at_most_per("device_read_accesses", ex_element_count(0), "element", loads,
                           load_reason);
    ex_require_at_most_per("device_write_accesses", ex_element_count(0), "element", 1,
                           store_reason);
    ex_require_coalesced_loads(1.125, "neighbouring threads take neighbouring elements");
    ex_require_coalesced_stores(1.125, "neighbouring threads take neighbouring elements");
    ex_require_at_most_per("shared_requests_total", ex_element_count(0) / 32, "32 elements", 4,
                           "what one thread loads, changes and stores can stay in its registers");
}
