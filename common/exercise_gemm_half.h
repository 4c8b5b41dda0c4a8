/* exercise_gemm_half.h — references and tolerance shared by the exercises on products of matrices
 * of halves, with results in float: C (n x m) = A (n x k) * B. B is k x m, or m x k if it is given
 * transposed. dim = {n, k, m}; arguments begin with c, a, b. Sizes are multiples of 16. */
#pragma once
#include "common/exercise_gemm.h"

enum { EX_MMA_TILE = 16 }; /* All sizes are multiples of this. */

static inline double ex_gemm_half_bytes(const struct ex_case *c) {
    return 4.0 * ex_gemm_c(c) + 2.0 * (ex_gemm_a(c) + ex_gemm_b(c));
}

/* Computes rows `first` to `end` - 1. They are few enough that their sums stay in a cache; each row
 * of B is converted once for all of them. */
EX_VECTORIZED
static inline void ex_gemm_half_row_block(const struct ex_case *c, const ex_half *a,
                                          const ex_half *b, int transpose_b, long first, long end,
                                          double *out) {
    long k = c->dim[1], m = c->dim[2];
    double row[m];
    for (long l = 0; l < k; l++) {
        for (long j = 0; j < m; j++)
            row[j] = ex_half_to_double(transpose_b ? b[j * k + l] : b[l * m + j]);
        for (long i = first; i < end; i++) {
            double a_value = ex_half_to_double(a[i * k + l]), *sum = out + i * m;
            for (long j = 0; j < m; j++) sum[j] += a_value * row[j];
        }
    }
}

static inline void ex_gemm_half_compute(const struct ex_case *c, void *const host[],
                                        void *const expected[], int transpose_b) {
    enum { ROW_BLOCK = 32 };
    double *out = expected[0];
    long n = c->dim[0];
    for (size_t e = 0; e < ex_gemm_c(c); e++) out[e] = 0;
    if (c->dim[2] == 0) return;
    for (long i = 0; i < n; i += ROW_BLOCK)
        ex_gemm_half_row_block(c, host[1], host[2], transpose_b, i,
                               i + ROW_BLOCK < n ? i + ROW_BLOCK : n, out);
}
static inline void ex_gemm_half_reference(const struct ex_case *c, void *const host[],
                                          void *const expected[]) {
    ex_gemm_half_compute(c, host, expected, 0);
}
static inline void ex_gemm_half_reference_transposed_b(const struct ex_case *c, void *const host[],
                                                       void *const expected[]) {
    ex_gemm_half_compute(c, host, expected, 1);
}

/* A product of two halves has 22 bits and is exact in float. The sum of k products errs by at most
 * (k + 1) e sum |a b|. An addition's relative error e is 2^-24 with rounding, and up to 2^-23 on
 * tensor cores, which truncate. Factors are below 1 in magnitude, so sum |a b| <= k, about k / 4 in
 * practice; k / 2 + 1 is above that. A sum or a result in half has a relative error of 2^-11: 30
 * times the tolerance at k = 16. */
static inline double ex_gemm_half_tolerance(const struct ex_case *c, void *const host[], int arg,
                                            size_t index, double expected) {
    return 2 * ex_gemm_tolerance(c, host, arg, index, expected);
}
