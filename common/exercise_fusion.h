/* exercise_fusion.h — what exercises share that make one kernel of several, each of which goes
 * through n floats. */
#pragma once
#include "common/exercise_limits.h"

static inline size_t ex_fusion_count(const struct ex_case *c) { return (size_t)c->dim[0]; }
/* A scalar factor, below 3 in magnitude, and a float: so that the reference computes with what the
 * entry gets. */
static inline double ex_fusion_factor(const struct ex_case *c, struct ex_rng *r) {
    (void)c;
    return (float)ex_uniform(r, -3, 3);
}

/* `loads` of an element are needed, and one store; nothing goes between threads. Asynchronous
 * copies bring each input into shared memory, and a counter of tiles is passed on there: CUB's
 * DeviceTransform has 3.8 accesses for 32 elements of two inputs. Three steps that hand the element
 * on there have 8. */
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
