/* matrix.cuh — matrices that are stored by columns and read plain, transposed or conjugated. */
#pragma once
#include "grader/cublas/handle.cuh"

template <typename T> struct matrix {
    const T *p;
    long long row_stride, column_stride;
    bool conjugates;
    __device__ T operator()(long long i, long long j) const {
        T x = p[i * row_stride + j * column_stride];
        return conjugates ? conjugate(x) : x;
    }
};
template <typename T> matrix<T> make_matrix(const T *p, long long ld, cublasOperation_t op) {
    bool plain = op == CUBLAS_OP_N;
    return {p, plain ? 1 : ld, plain ? ld : 1, op == CUBLAS_OP_C};
}

/* Which elements of a matrix are stored or computed. */
struct triangle {
    cublasFillMode_t mode;
    __host__ __device__ bool contains(long long i, long long j) const {
        if (mode == CUBLAS_FILL_MODE_FULL) return true;
        return mode == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
    }
};
