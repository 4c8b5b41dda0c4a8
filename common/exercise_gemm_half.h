/* exercise_gemm_half.h — what exercises on products of matrices of halves share, with results in
 * float: C (n x m) = A (n x k) * B, where B is k x m, or m x k where its rows are multiplied. dim =
 * {n, k, m}; arguments begin with c, a, b. Sizes are multiples of 16. */
#pragma once
#include "common/exercise_gemm.h"

enum { EX_MMA_TILE = 16 }; /* what sizes are multiples of */

static inline double ex_gemm_half_bytes(const struct ex_case *c) {
    return 4.0 * ex_gemm_c(c) + 2.0 * (ex_gemm_a(c) + ex_gemm_b(c));
}

/* Rows `first` and on, so many at a time that their sums stay in a cache; each row of B is widened
 * once for all of them. */
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

/* A product of two halves has 22 bits and is exact in float. The sum of k of them errs by at most
 * (k + 1) e sum |a b|, where an addition's relative error e is 2^-24 rounded, and up to 2^-23 on
 * tensor cores, which cut off instead. Factors are below 1 in magnitude, so sum |a b| <= k, and
 * about k / 4 in fact; k / 2 + 1 leaves room. A sum or a result in half is off by 2^-11 of what it
 * is: 30 times what is allowed at k = 16. */
static inline double ex_gemm_half_tolerance(const struct ex_case *c, void *const host[], int arg,
                                            size_t index, double expected) {
    return 2 * ex_gemm_tolerance(c, host, arg, index, expected);
}
