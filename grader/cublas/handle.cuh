/* handle.cuh — the handle of our cuBLAS, and what its calls share: scalars that are on the host or on
 * the device, vectors with a stride, launches into the handle's stream.
 *
 * NVIDIA's cuBLAS contains only machine code, which the simulator can't run. So `simgpu nvcc`
 * replaces it by this library, whose calls launch kernels of their own: these run on the simulated
 * GPU as a program's kernels do, in stream order, counted, checked and timed. Their results equal
 * cuBLAS's within rounding, not bit by bit, and their times are not cuBLAS's. */
#pragma once
#include "grader/cublas/numbers.cuh"
#include <cublas_v2.h>

enum { PARTIAL_SUMS = 256, WORKSPACE_BYTES = (PARTIAL_SUMS + 1) * 16 };

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math_mode;
    cublasAtomicsMode_t atomics_mode;
    int sm_count_target;
    void *workspace; /* on the device: partial results of a reduction, then its result */
};

/* A factor such as alpha. In device pointer mode the kernel reads it. */
template <typename T> struct scalar {
    const T *device;
    T host;
    __device__ T value() const { return device ? *device : host; }
};
template <typename T> scalar<T> make_scalar(cublasHandle_t h, const T *p) {
    if (h->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return {p, T()};
    return {nullptr, *p};
}

/* Element i of a vector is p[i * stride]. With a negative stride, BLAS begins at the far end. */
template <typename T> struct strided {
    T *p;
    long long stride;
    __device__ T &operator[](long long i) const { return p[i * stride]; }
};
template <typename T> strided<T> make_strided(T *p, long long n, long long stride) {
    return {stride < 0 ? p - (n - 1) * stride : p, stride};
}

template <typename... Parameters, typename... Arguments>
cublasStatus_t launch(cublasHandle_t h, dim3 grid, dim3 block, void (*kernel)(Parameters...),
                      Arguments... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid, config.blockDim = block, config.stream = h->stream;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...) == cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_EXECUTION_FAILED;
}

/* Returns the number of blocks for `n` items, at most `max`; kernels loop over the rest. */
inline unsigned blocks_for(long long n, unsigned per_block, unsigned max) {
    long long blocks = (n + per_block - 1) / per_block;
    return blocks < 1 ? 1 : blocks > max ? max : (unsigned)blocks;
}

/* Defines a call for both kinds of sizes and strides: MACRO(…, int, ) and MACRO(…, int64_t, _64). */
#define BOTH_SIZES(MACRO, ...) MACRO(__VA_ARGS__, int, ) MACRO(__VA_ARGS__, int64_t, _64)
#define REAL_TYPES(MACRO)       \
    BOTH_SIZES(MACRO, S, float) \
    BOTH_SIZES(MACRO, D, double)
#define COMPLEX_TYPES(MACRO)        \
    BOTH_SIZES(MACRO, C, cuComplex) \
    BOTH_SIZES(MACRO, Z, cuDoubleComplex)
#define ALL_TYPES(MACRO) REAL_TYPES(MACRO) COMPLEX_TYPES(MACRO)
