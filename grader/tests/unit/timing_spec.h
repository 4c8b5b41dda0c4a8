/* timing_spec.h — kernels that isolate a term of the time model, and the model's times for them;
 * for test_timing*.c. */
#pragma once
#include "common/buf.h"
#include "grader/sim/timing/timing.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

enum { SMS = 132 }; /* of the h200; 4 schedulers each */

/* A kernel k(p, n): `body` n times, with %d0 = p, %r1 = thread, %r2 = block, %r4 = thread of the
 * grid, %r5 = lane, %r6 = warp, %r7 = offset of shared memory; %r20.., %f.., %d10.. are the body's.
 */
struct kernel_spec {
    const char *device;
    const char *prologue;  /* PTX before the loop */
    const char *functions; /* PTX before the kernel */
    struct buf body;
    unsigned blocks, threads, dynamic_shared, n, spill_bytes,
        cluster;          /* cluster: blocks of one; 0 = none */
    uint64_t bytes;       /* of the buffer */
    uint64_t sample_key;  /* of sim_set_sample: which blocks are sampled */
    bool warm, full_grid; /* full_grid: every block runs, not the sample alone */
    bool cooperative;
    double warm_bytes;
    struct buf listing; /* of machine code, by spec_code; empty = none */
};
enum {
    SPEC_LINE = 18
}; /* the line of the text where the body begins; after it come add, setp, bra and ret */

/* A machine instruction of the kernel: the line that it was made from, and how it is issued: clocks
 * to the next one, the barrier that its result releases (7 = none), a mask of those to wait for.
 * Labels are spec_label's. */
void spec_code(struct kernel_spec *s, unsigned line, const char *text, unsigned stall,
               unsigned release, unsigned wait);
void spec_label(struct kernel_spec *s, const char *label);

void spec_add(struct kernel_spec *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Chains of FMAs; loads from shared memory and from L1, lanes `stride` bytes apart; one wide load a
 * thread. */
struct kernel_spec fma_spec(unsigned chains, unsigned threads);
struct kernel_spec shared_spec(unsigned stride);
struct kernel_spec l1_spec(unsigned stride);
struct kernel_spec stream_spec(const char *device, unsigned blocks);

struct time_estimate spec_model_with(const struct kernel_spec *s, unsigned disabled_terms,
                                     unsigned workers);
struct time_estimate spec_model(const struct kernel_spec *s);
/* Return the cycles of the device without the launch itself. */
double spec_cycles_disabling(const struct kernel_spec *s, unsigned disabled_terms);
double spec_cycles(const struct kernel_spec *s);

#define ck_about(got, want, tolerance)                                                      \
    ck_assert_msg((got) > (want) * (1 - (tolerance)) && (got) < (want) * (1 + (tolerance)), \
                  #got " is %g, expected about %g", (double)(got), (double)(want))
#define ck_bound(t, name)                                                      \
    ck_assert_msg(!strcmp(time_component_name((t).limits[0].component), name), \
                  "bound by %s, expected %s", time_component_name((t).limits[0].component), name)
