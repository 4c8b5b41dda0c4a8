/* exercise_fill.h — what several chapters' tests share beside exercise.h: bounds on rounding, limits on
 * sectors. */
#pragma once
#include "common/exercise.h"

#include <math.h>

/* Unit roundoff: the largest relative error of one correctly rounded operation. */
#define EX_ROUND32 0x1p-24

/* Sectors that a request may touch: `slack` times what its active lanes and widths need when packed. A plain
 * limit of 4 would refuse float4 (16 sectors, all of them used) and let pass half-empty warps (4 sectors,
 * half of each used). */
static inline double ex_packed(const char *ideal, const char *requests, double slack) {
    double n = ex_metric(requests);
    return n > 0 ? slack * ex_metric(ideal) / n : slack * 4;
}

static inline void ex_coalesced_loads(double slack, const char *reason) {
    ex_at_most("sectors_per_request_load", ex_packed("sectors_ideal_load", "requests_load", slack), reason);
}

static inline void ex_coalesced_stores(double slack, const char *reason) {
    ex_at_most("sectors_per_request_store", ex_packed("sectors_ideal_store", "requests_store", slack), reason);
}

/* A guard: a single block, or a few, can do all of the work with few atomics and every byte read once, and
 * leave the other SMs idle. */
static inline void ex_many_blocks(double least) {
    ex_at_least("blocks", least, "a block runs on one SM, and a device has many");
}

/* ---- single-precision matrix products: C (n x m) = A (n x k) * B (k x m), row by row; dim = {n, k, m} ----
 */

static inline size_t ex_gemm_c(const struct ex_case *c) { return (size_t)c->dim[0] * c->dim[2]; }
static inline size_t ex_gemm_a(const struct ex_case *c) { return (size_t)c->dim[0] * c->dim[1]; }
static inline size_t ex_gemm_b(const struct ex_case *c) { return (size_t)c->dim[1] * c->dim[2]; }
static inline double ex_gemm_bytes(const struct ex_case *c) {
    return 4.0 * (ex_gemm_c(c) + ex_gemm_a(c) + ex_gemm_b(c));
}
static inline double ex_gemm_products(const struct ex_case *c) { return (double)ex_gemm_c(c) * c->dim[1]; }
static inline double ex_gemm_flops(const struct ex_case *c) { return 2 * ex_gemm_products(c); }

/* Arguments in the order c, a, b. */
static inline void ex_gemm_reference(const struct ex_case *c, void *const host[], void *const want[]) {
    const float *a = host[1], *b = host[2];
    double *out = want[0];
    long n = c->dim[0], k = c->dim[1], m = c->dim[2];
    for (long e = 0; e < n * m; e++) out[e] = 0;
    for (long i = 0; i < n; i++)
        for (long l = 0; l < k; l++)
            for (long j = 0; j < m; j++) out[i * m + j] += (double)a[i * k + l] * b[l * m + j];
}

/* A sum of k products in any order errs by at most (k + 1) u sum |a b| (Higham, Accuracy and Stability, 3.1);
 * the factors are below 1 in magnitude, so sum |a b| <= k, and about k / 4 in fact. The bound with k / 2
 * leaves room for any order of summation, and a single missing or doubled product (about 0.25) is far above
 * it. */
static inline double ex_gemm_tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                                       double want) {
    (void)host, (void)arg, (void)index, (void)want;
    double k = (double)c->dim[1];
    return (k + 1) * EX_ROUND32 * (k / 2 + 1);
}
