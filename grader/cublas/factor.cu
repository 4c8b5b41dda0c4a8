/* factor.cu — LU factorizations of a batch of matrices. */
#include "grader/cublas/matrix.cuh"

enum { THREADS = 256 };

template <typename T> struct lu_batch {
    int n;
    T *const *matrices;
    int lda, *pivots, *info; /* pivots may be null: then no rows are swapped */
};

/* Returns the row of column k with the greatest magnitude, from row k on; all threads call it. */
template <typename T> static __device__ int find_pivot(const T *a, int n, int lda, int k) {
    __shared__ int row[THREADS];
    int best = k;
    for (int i = k + threadIdx.x; i < n; i += THREADS)
        if (magnitude(a[i + (size_t)k * lda]) > magnitude(a[best + (size_t)k * lda])) best = i;
    row[threadIdx.x] = best;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x >= half) continue;
        int mine = row[threadIdx.x], other = row[threadIdx.x + half];
        auto x = magnitude(a[mine + (size_t)k * lda]), y = magnitude(a[other + (size_t)k * lda]);
        if (y > x || (y == x && other < mine)) row[threadIdx.x] = other;
    }
    __syncthreads();
    best = row[0];
    __syncthreads();
    return best;
}

/* One block factors one matrix in place: a = P * L * U, with a unit diagonal in L. */
template <typename T> __global__ void cublas_getrf(lu_batch<T> batch) {
    T *a = batch.matrices[blockIdx.x];
    int n = batch.n, info = 0;
    size_t lda = batch.lda;
    for (int k = 0; k < n; k++) {
        int pivot = batch.pivots ? find_pivot(a, n, batch.lda, k) : k;
        if (batch.pivots && threadIdx.x == 0) batch.pivots[blockIdx.x * n + k] = pivot + 1;
        for (int j = threadIdx.x; j < n && pivot != k; j += THREADS) {
            T moved = a[k + j * lda];
            a[k + j * lda] = a[pivot + j * lda], a[pivot + j * lda] = moved;
        }
        __syncthreads();
        T diagonal = a[k + k * lda];
        if (diagonal == T(0)) {
            if (!info) info = k + 1;
            continue;
        }
        for (int i = k + 1 + threadIdx.x; i < n; i += THREADS)
            a[i + k * lda] = a[i + k * lda] / diagonal;
        __syncthreads();
        long long rest = n - k - 1;
        for (long long t = threadIdx.x; t < rest * rest; t += THREADS) {
            size_t i = k + 1 + t % rest, j = k + 1 + t / rest;
            a[i + j * lda] = a[i + j * lda] - a[i + k * lda] * a[k + j * lda];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) batch.info[blockIdx.x] = info;
}

extern "C" {
#define GETRF(L, T)                                                                                \
    cublasStatus_t cublas##L##getrfBatched(cublasHandle_t h, int n, T *const a[], int lda,         \
                                           int *pivots, int *info, int batch) {                    \
        using N = std::remove_pointer_t<decltype(numbers((T *)nullptr))>;                          \
        if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;                                              \
        if (n < 0 || batch < 0 || lda < (n > 1 ? n : 1)) return CUBLAS_STATUS_INVALID_VALUE;       \
        if (!n || !batch) return CUBLAS_STATUS_SUCCESS;                                            \
        return launch(h, batch, THREADS, cublas_getrf<N>,                                          \
                      lu_batch<N>{n, numbers(a), lda, pivots, info});                              \
    }
GETRF(S, float)
GETRF(D, double)
GETRF(C, cuComplex)
GETRF(Z, cuDoubleComplex)
}
