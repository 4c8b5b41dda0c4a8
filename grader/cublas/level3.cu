/* level3.cu — BLAS level 3 besides gemm, and cuBLAS's sums and diagonal products of matrices. */
#include "grader/cublas/gemm.cuh"

enum { THREADS = 128 };

static dim3 columns_grid(long long m, long long n) {
    return dim3((unsigned)((m + THREADS - 1) / THREADS), blocks_for(n, 1, 65535));
}

/* c = alpha * op(a) + beta * op(b) */
template <typename T>
__global__ void cublas_geam(long long m, long long n, scalar<T> alpha, matrix<T> a, scalar<T> beta,
                            matrix<T> b, T *c, long long ldc) {
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= m) return;
    for (long long j = blockIdx.y; j < n; j += gridDim.y) {
        T sum = T(0);
        if (!(alpha.value() == T(0))) sum = alpha.value() * a(i, j);
        if (!(beta.value() == T(0))) sum = sum + beta.value() * b(i, j);
        c[i + j * ldc] = sum;
    }
}
template <typename T>
static cublasStatus_t geam(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b,
                           long long m, long long n, const T *alpha, const T *a, long long lda,
                           const T *beta, const T *b, long long ldb, T *c, long long ldc) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || ldc < (m > 1 ? m : 1)) return CUBLAS_STATUS_INVALID_VALUE;
    if (!m || !n) return CUBLAS_STATUS_SUCCESS;
    return launch(h, columns_grid(m, n), THREADS, cublas_geam<T>, m, n, make_scalar(h, alpha),
                  make_matrix(a, lda, op_a), make_scalar(h, beta), make_matrix(b, ldb, op_b), c,
                  ldc);
}

/* c = diag(x) * a, or a * diag(x) */
template <typename T>
__global__ void cublas_dgmm(long long m, long long n, bool left, const T *a, long long lda,
                            strided<const T> x, T *c, long long ldc) {
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= m) return;
    for (long long j = blockIdx.y; j < n; j += gridDim.y)
        c[i + j * ldc] = a[i + j * lda] * x[left ? i : j];
}
template <typename T>
static cublasStatus_t dgmm(cublasHandle_t h, cublasSideMode_t side, long long m, long long n,
                           const T *a, long long lda, const T *x, long long incx, T *c,
                           long long ldc) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    bool left = side == CUBLAS_SIDE_LEFT;
    if (m < 0 || n < 0 || ldc < (m > 1 ? m : 1)) return CUBLAS_STATUS_INVALID_VALUE;
    if (!m || !n) return CUBLAS_STATUS_SUCCESS;
    return launch(h, columns_grid(m, n), THREADS, cublas_dgmm<T>, m, n, left, a, lda,
                  make_strided(x, left ? m : n, incx), c, ldc);
}

/* c = alpha * op(a) * op(a)^T (or ^H) + beta * c, of which one triangle is computed. */
template <typename T>
static cublasStatus_t syrk(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t op,
                           long long n, long long k, const T *alpha, const T *a, long long lda,
                           const T *beta, T *c, long long ldc) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    cublasOperation_t other = op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
    if (op == CUBLAS_OP_C || !gemm_shape_is_valid({op, other, n, n, k, lda, lda, ldc, 1}))
        return CUBLAS_STATUS_INVALID_VALUE;
    batch_pointer<const T> memory = {a, nullptr, 0};
    return launch_gemm(h, gemm_problem<T, T, T>{n, n, k, 1, make_factor<T>(h, alpha, false),
                                                make_factor<T>(h, beta, false),
                                                make_operand(memory, lda, op),
                                                make_operand(memory, lda, other),
                                                {c, nullptr, 0}, ldc, triangle{uplo}});
}

/* c = alpha * a * b + beta * c (or b * a), where one triangle of the symmetric a is stored. */
template <typename T>
__global__ void cublas_symm(long long m, long long n, bool left, scalar<T> alpha, matrix<T> a,
                            triangle stored, matrix<T> b, scalar<T> beta, T *c, long long ldc) {
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= m) return;
    for (long long j = blockIdx.y; j < n; j += gridDim.y) {
        T sum = T(0);
        for (long long k = 0; k < (left ? m : n); k++) {
            long long r = left ? i : k, q = left ? k : j;
            T element = stored.contains(r, q) ? a(r, q) : a(q, r);
            sum = sum + element * (left ? b(k, j) : b(i, k));
        }
        T scaled = alpha.value() * sum;
        c[i + j * ldc] =
            beta.value() == T(0) ? scaled : scaled + beta.value() * c[i + j * ldc];
    }
}
template <typename T>
static cublasStatus_t symm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo,
                           long long m, long long n, const T *alpha, const T *a, long long lda,
                           const T *b, long long ldb, const T *beta, T *c, long long ldc) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || ldc < (m > 1 ? m : 1)) return CUBLAS_STATUS_INVALID_VALUE;
    if (!m || !n) return CUBLAS_STATUS_SUCCESS;
    return launch(h, columns_grid(m, n), THREADS, cublas_symm<T>, m, n, side == CUBLAS_SIDE_LEFT,
                  make_scalar(h, alpha), make_matrix(a, lda, CUBLAS_OP_N), triangle{uplo},
                  make_matrix(b, ldb, CUBLAS_OP_N), make_scalar(h, beta), c, ldc);
}

/* ---- triangular systems ---- */

/* Solves op(a) * x = alpha * b for each of `lines` vectors x, in place: one thread a vector. */
template <typename T> struct triangular_problem {
    long long n, lines;
    scalar<T> alpha;
    matrix<T> a;
    bool is_lower, is_unit;
    T *b;
    long long element_stride, line_stride;
};
template <typename T> __global__ void cublas_trsm(triangular_problem<T> p) {
    long long line = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (line >= p.lines) return;
    strided<T> x = {p.b + line * p.line_stride, p.element_stride};
    for (long long step = 0; step < p.n; step++) {
        long long i = p.is_lower ? step : p.n - 1 - step;
        T rest = p.alpha.value() * x[i];
        for (long long k = p.is_lower ? 0 : i + 1; k < (p.is_lower ? i : p.n); k++)
            rest = rest - p.a(i, k) * x[k];
        x[i] = p.is_unit ? rest : rest / p.a(i, i);
    }
}
template <typename T>
static cublasStatus_t solve(cublasHandle_t h, const triangular_problem<T> &p) {
    if (p.n <= 0 || p.lines <= 0) return CUBLAS_STATUS_SUCCESS;
    return launch(h, (unsigned)((p.lines + THREADS - 1) / THREADS), THREADS, cublas_trsm<T>, p);
}
/* From the right, x * op(a) = b is op(a)^T * x^T = b^T. */
template <typename T>
static cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo,
                           cublasOperation_t op, cublasDiagType_t diag, long long m, long long n,
                           const T *alpha, const T *a, long long lda, T *b, long long ldb) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    bool left = side == CUBLAS_SIDE_LEFT;
    if (m < 0 || n < 0 || ldb < (m > 1 ? m : 1)) return CUBLAS_STATUS_INVALID_VALUE;
    matrix<T> effective = make_matrix(a, lda, op);
    bool is_lower = (uplo == CUBLAS_FILL_MODE_LOWER) == (op == CUBLAS_OP_N);
    if (!left) {
        effective = {a, effective.column_stride, effective.row_stride, effective.conjugates};
        is_lower = !is_lower;
    }
    return solve(h, triangular_problem<T>{left ? m : n, left ? n : m, make_scalar(h, alpha),
                                          effective, is_lower, diag == CUBLAS_DIAG_UNIT, b,
                                          left ? 1 : ldb, left ? ldb : 1});
}
template <typename T>
static cublasStatus_t trsv(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t op,
                           cublasDiagType_t diag, long long n, const T *a, long long lda, T *x,
                           long long incx) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n < 0 || lda < (n > 1 ? n : 1) || !incx) return CUBLAS_STATUS_INVALID_VALUE;
    strided<T> v = make_strided(x, n, incx);
    return solve(h, triangular_problem<T>{n, 1, {nullptr, T(1)}, make_matrix(a, lda, op),
                                          (uplo == CUBLAS_FILL_MODE_LOWER) == (op == CUBLAS_OP_N),
                                          diag == CUBLAS_DIAG_UNIT, v.p, v.stride, 0});
}

extern "C" {

#define LEVEL3(L, T, I, suffix)                                                                    \
    cublasStatus_t cublas##L##geam##suffix(cublasHandle_t h, cublasOperation_t op_a,               \
                                           cublasOperation_t op_b, I m, I n, const T *alpha,       \
                                           const T *a, I lda, const T *beta, const T *b, I ldb,    \
                                           T *c, I ldc) {                                          \
        return geam(h, op_a, op_b, m, n, numbers(alpha), numbers(a), lda, numbers(beta),           \
                    numbers(b), ldb, numbers(c), ldc);                                             \
    }                                                                                              \
    cublasStatus_t cublas##L##dgmm##suffix(cublasHandle_t h, cublasSideMode_t side, I m, I n,      \
                                           const T *a, I lda, const T *x, I incx, T *c, I ldc) {   \
        return dgmm(h, side, m, n, numbers(a), lda, numbers(x), incx, numbers(c), ldc);            \
    }                                                                                              \
    cublasStatus_t cublas##L##syrk##suffix(cublasHandle_t h, cublasFillMode_t uplo,                \
                                           cublasOperation_t op, I n, I k, const T *alpha,         \
                                           const T *a, I lda, const T *beta, T *c, I ldc) {        \
        return syrk(h, uplo, op, n, k, numbers(alpha), numbers(a), lda, numbers(beta), numbers(c), \
                    ldc);                                                                          \
    }                                                                                              \
    cublasStatus_t cublas##L##symm##suffix(cublasHandle_t h, cublasSideMode_t side,                \
                                           cublasFillMode_t uplo, I m, I n, const T *alpha,        \
                                           const T *a, I lda, const T *b, I ldb, const T *beta,    \
                                           T *c, I ldc) {                                          \
        return symm(h, side, uplo, m, n, numbers(alpha), numbers(a), lda, numbers(b), ldb,         \
                    numbers(beta), numbers(c), ldc);                                               \
    }                                                                                              \
    cublasStatus_t cublas##L##trsm##suffix(cublasHandle_t h, cublasSideMode_t side,                \
                                           cublasFillMode_t uplo, cublasOperation_t op,            \
                                           cublasDiagType_t diag, I m, I n, const T *alpha,        \
                                           const T *a, I lda, T *b, I ldb) {                       \
        return trsm(h, side, uplo, op, diag, m, n, numbers(alpha), numbers(a), lda, numbers(b),    \
                    ldb);                                                                          \
    }                                                                                              \
    cublasStatus_t cublas##L##trsv##suffix(cublasHandle_t h, cublasFillMode_t uplo,                \
                                           cublasOperation_t op, cublasDiagType_t diag, I n,       \
                                           const T *a, I lda, T *x, I incx) {                      \
        return trsv(h, uplo, op, diag, n, numbers(a), lda, numbers(x), incx);                      \
    }
ALL_TYPES(LEVEL3)
}
