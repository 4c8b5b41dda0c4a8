/* level2.cu — BLAS level 2: matrices and vectors. Matrices are stored by columns. */
#include "grader/cublas/matrix.cuh"

enum { THREADS = 128 };

/* y = alpha * op(a) * x + beta * y. Without transposition, a thread adds up a row; neighbours read
 * neighbouring elements of a column. */
template <typename T>
__global__ void cublas_gemv_rows(long long m, long long n, scalar<T> alpha, matrix<T> a,
                                 strided<const T> x, scalar<T> beta, strided<T> y) {
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= m) return;
    T sum = T(0);
    for (long long j = 0; j < n; j++) sum = sum + a(i, j) * x[j];
    T scaled = alpha.value() * sum;
    y[i] = beta.value() == T(0) ? scaled : scaled + beta.value() * y[i];
}

/* With transposition, a block adds up a column of the stored matrix. */
template <typename T>
__global__ void cublas_gemv_columns(long long n, scalar<T> alpha, matrix<T> a, strided<const T> x,
                                    scalar<T> beta, strided<T> y) {
    __shared__ T sums[THREADS];
    T sum = T(0);
    for (long long j = threadIdx.x; j < n; j += THREADS) sum = sum + a(blockIdx.x, j) * x[j];
    sums[threadIdx.x] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + half];
    }
    if (threadIdx.x) return;
    T scaled = alpha.value() * sums[0];
    T &out = y[blockIdx.x];
    out = beta.value() == T(0) ? scaled : scaled + beta.value() * out;
}

template <typename T>
static cublasStatus_t gemv(cublasHandle_t h, cublasOperation_t op, long long m, long long n,
                           const T *alpha, const T *a, long long lda, const T *x, long long incx,
                           const T *beta, T *y, long long incy) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || !incx || !incy)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!m || !n) return CUBLAS_STATUS_SUCCESS;
    bool plain = op == CUBLAS_OP_N;
    long long rows = plain ? m : n, columns = plain ? n : m;
    auto out = make_strided(y, rows, incy);
    auto in = make_strided(x, columns, incx);
    matrix<T> matrix = make_matrix(a, lda, op);
    if (plain)
        return launch(h, (unsigned)((rows + THREADS - 1) / THREADS), THREADS, cublas_gemv_rows<T>,
                      rows, columns, make_scalar(h, alpha), matrix, in, make_scalar(h, beta), out);
    return launch(h, (unsigned)rows, THREADS, cublas_gemv_columns<T>, columns,
                  make_scalar(h, alpha), matrix, in, make_scalar(h, beta), out);
}

/* a = a + alpha * x * y^T (or y^H), or only the stored half of it. */
template <typename T>
__global__ void cublas_ger(long long m, long long n, scalar<T> alpha, strided<const T> x,
                           strided<const T> y, bool conjugates, triangle stored, T *a,
                           long long lda) {
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= m) return;
    for (long long j = blockIdx.y; j < n; j += gridDim.y)
        if (stored.contains(i, j))
            a[i + j * lda] =
                a[i + j * lda] + alpha.value() * x[i] * (conjugates ? conjugate(y[j]) : y[j]);
}
template <typename T>
static cublasStatus_t ger(cublasHandle_t h, long long m, long long n, const T *alpha, const T *x,
                          long long incx, const T *y, long long incy, T *a, long long lda,
                          bool conjugates, triangle stored) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || !incx || !incy)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!m || !n) return CUBLAS_STATUS_SUCCESS;
    dim3 grid((unsigned)((m + THREADS - 1) / THREADS), blocks_for(n, 1, 65535));
    return launch(h, grid, THREADS, cublas_ger<T>, m, n, make_scalar(h, alpha),
                  make_strided(x, m, incx), make_strided(y, n, incy), conjugates, stored, a, lda);
}

/* y = alpha * a * x + beta * y, where only one triangle of the symmetric matrix is stored. */
template <typename T>
__global__ void cublas_symv(long long n, scalar<T> alpha, matrix<T> a, triangle stored,
                            strided<const T> x, scalar<T> beta, strided<T> y) {
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    T sum = T(0);
    for (long long j = 0; j < n; j++)
        sum = sum + (stored.contains(i, j) ? a(i, j) : a(j, i)) * x[j];
    T scaled = alpha.value() * sum;
    y[i] = beta.value() == T(0) ? scaled : scaled + beta.value() * y[i];
}
template <typename T>
static cublasStatus_t symv(cublasHandle_t h, cublasFillMode_t uplo, long long n, const T *alpha,
                           const T *a, long long lda, const T *x, long long incx, const T *beta,
                           T *y, long long incy) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n < 0 || lda < (n > 1 ? n : 1) || !incx || !incy) return CUBLAS_STATUS_INVALID_VALUE;
    if (!n) return CUBLAS_STATUS_SUCCESS;
    return launch(h, (unsigned)((n + THREADS - 1) / THREADS), THREADS, cublas_symv<T>, n,
                  make_scalar(h, alpha), make_matrix(a, lda, CUBLAS_OP_N), triangle{uplo},
                  make_strided(x, n, incx), make_scalar(h, beta), make_strided(y, n, incy));
}

extern "C" {

#define GEMV(L, T, I, suffix)                                                                     \
    cublasStatus_t cublas##L##gemv##suffix(cublasHandle_t h, cublasOperation_t op, I m, I n,      \
                                           const T *alpha, const T *a, I lda, const T *x, I incx, \
                                           const T *beta, T *y, I incy) {                         \
        return gemv(h, op, m, n, numbers(alpha), numbers(a), lda, numbers(x), incx, numbers(beta), \
                    numbers(y), incy);                                                            \
    }
ALL_TYPES(GEMV)

#define GER(name, T, conjugates, I, suffix)                                                       \
    cublasStatus_t cublas##name##suffix(cublasHandle_t h, I m, I n, const T *alpha, const T *x,   \
                                        I incx, const T *y, I incy, T *a, I lda) {                \
        return ger(h, m, n, numbers(alpha), numbers(x), incx, numbers(y), incy, numbers(a), lda,  \
                   conjugates, triangle{CUBLAS_FILL_MODE_FULL});                                  \
    }
BOTH_SIZES(GER, Sger, float, false)
BOTH_SIZES(GER, Dger, double, false)
BOTH_SIZES(GER, Cgeru, cuComplex, false)
BOTH_SIZES(GER, Cgerc, cuComplex, true)
BOTH_SIZES(GER, Zgeru, cuDoubleComplex, false)
BOTH_SIZES(GER, Zgerc, cuDoubleComplex, true)

#define SYMMETRIC(L, T, I, suffix)                                                                \
    cublasStatus_t cublas##L##symv##suffix(cublasHandle_t h, cublasFillMode_t uplo, I n,          \
                                           const T *alpha, const T *a, I lda, const T *x, I incx, \
                                           const T *beta, T *y, I incy) {                         \
        return symv(h, uplo, n, numbers(alpha), numbers(a), lda, numbers(x), incx, numbers(beta), \
                    numbers(y), incy);                                                            \
    }                                                                                             \
    cublasStatus_t cublas##L##syr##suffix(cublasHandle_t h, cublasFillMode_t uplo, I n,           \
                                          const T *alpha, const T *x, I incx, T *a, I lda) {      \
        return ger(h, n, n, numbers(alpha), numbers(x), incx, numbers(x), incx, numbers(a), lda,  \
                   false, triangle{uplo});                                                        \
    }
ALL_TYPES(SYMMETRIC)
}
