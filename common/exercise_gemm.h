/* exercise_gemm.h — arguments, cases, reference and tolerance shared by the exercises on
 * single-precision matrix products: C (n x m) = A (n x k) * B (k x m), row-major; dim = {n, k, m};
 * arguments in the order c, a, b, n, k, m. */
#pragma once
#include "common/exercise_limits.h"

#include <string.h>

static inline size_t ex_gemm_c(const struct ex_case *c) { return (size_t)c->dim[0] * c->dim[2]; }
static inline size_t ex_gemm_a(const struct ex_case *c) { return (size_t)c->dim[0] * c->dim[1]; }
static inline size_t ex_gemm_b(const struct ex_case *c) { return (size_t)c->dim[1] * c->dim[2]; }
static inline double ex_gemm_bytes(const struct ex_case *c) {
    return 4.0 * (ex_gemm_c(c) + ex_gemm_a(c) + ex_gemm_b(c));
}
static inline double ex_gemm_products(const struct ex_case *c) {
    return (double)ex_gemm_c(c) * c->dim[1];
}
static inline double ex_gemm_flops(const struct ex_case *c) { return 2 * ex_gemm_products(c); }

/* All arguments of an entry that computes just the product; and the first cases of each exercise.
 */
/* clang-format off */
#define EX_GEMM_ARGS                                                                   \
    {.name = "c", .role = EX_OUT, .type = EX_F32, .count = ex_gemm_c, .shape = {1, 3}}, \
    {.name = "a", .role = EX_IN, .type = EX_F32, .count = ex_gemm_a, .shape = {1, 2}},  \
    {.name = "b", .role = EX_IN, .type = EX_F32, .count = ex_gemm_b, .shape = {2, 3}},  \
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},                         \
    {.name = "k", .role = EX_SCALAR, .type = EX_I32, .dim = 1},                         \
    {.name = "m", .role = EX_SCALAR, .type = EX_I32, .dim = 2}
#define EX_GEMM_EDGE_CASES                             \
    {{0, 5, 7}, .label = "no rows: nothing to launch"},     \
    {{5, 7, 0}, .label = "no columns: nothing to launch"},  \
    {{5, 0, 7}, .label = "k = 0: C is zero"},               \
    {{1, 1, 1}, .label = "a single product"}
/* Drawn cases may have any shape with as many products as the largest listed case. */
#define EX_GEMM_DRAW {.dim = {{1, 280}, {1, 200}, {1, 280}}, .max_product = 300000}
/* clang-format on */

/* Computes rows `first` to `end` - 1. They are few enough that their sums stay in a cache, and each
 * row of B serves all of them. */
EX_VECTORIZED
static inline void ex_gemm_row_block(const struct ex_case *c, const float *a, const float *b,
                                     long first, long end, double *out) {
    long k = c->dim[1], m = c->dim[2];
    for (long l = 0; l < k; l++)
        for (long i = first; i < end; i++) {
            double a_value = a[i * k + l], *sum = out + i * m;
            for (long j = 0; j < m; j++) sum[j] += a_value * b[l * m + j];
        }
}

static inline void ex_gemm_reference(const struct ex_case *c, void *const host[],
                                     void *const expected[]) {
    enum { ROW_BLOCK = 8 };
    long n = c->dim[0];
    memset(expected[0], 0, ex_gemm_c(c) * sizeof(double));
    for (long i = 0; i < n; i += ROW_BLOCK)
        ex_gemm_row_block(c, host[1], host[2], i, i + ROW_BLOCK < n ? i + ROW_BLOCK : n,
                          expected[0]);
}

/* A sum of k products in any order errs by at most (k + 1) u sum |a b| (Higham, Accuracy and
 * Stability, 3.1). The factors are below 1 in magnitude, so sum |a b| <= k; it is about k / 4 in
 * practice. The bound with k / 2 allows any order of summation. A single missing or doubled product
 * (about 0.25) is far above it. */
static inline double ex_gemm_tolerance(const struct ex_case *c, void *const host[], int arg,
                                       size_t index, double expected) {
    (void)host, (void)arg, (void)index, (void)expected;
    double k = (double)c->dim[1];
    return (k + 1) * EX_ROUNDOFF_F32 * (k / 2 + 1);
}
