// tensor.cu — the versions of chapter 14 beside the vendor's libraries: cold caches, medians of 21; a line a version.
//
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I. grader/tests/timing/tensor.cu -lcublas -o tensor; ./tensor
//
// Run from the top of the tree. Figures: docs/results/h100/tensor.tsv. Results are compared with those of the first step.
#include "grader/tests/timing/cold.cuh"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cub/device/device_segmented_reduce.cuh>
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <functional>
#include <mma.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <vector>

#define wmma_gemm wmma_gemm_1
namespace w1 {
#include "solutions/14-tensor-cores/wmma_gemm-1-tiles.cu"
}
#undef wmma_gemm
#define wmma_gemm wmma_gemm_2
namespace w2 {
#include "solutions/14-tensor-cores/wmma_gemm-2-warp-tiles.cu"
}
#undef wmma_gemm
#define wmma_gemm wmma_gemm_3
namespace w3 {
#include "solutions/14-tensor-cores/wmma_gemm-3-shared.cu"
}
#undef wmma_gemm
#define wmma_gemm wmma_gemm_solution
namespace w4 {
#include "solutions/14-tensor-cores/wmma_gemm.cu"
}
#undef wmma_gemm
#define mma_swizzle mma_swizzle_1
namespace m1 {
#include "solutions/14-tensor-cores/mma_swizzle-1-words.cu"
}
#undef mma_swizzle
#define mma_swizzle mma_swizzle_2
namespace m2 {
#include "solutions/14-tensor-cores/mma_swizzle-2-ldmatrix.cu"
}
#undef mma_swizzle
#define mma_swizzle mma_swizzle_3
namespace m3 {
#include "solutions/14-tensor-cores/mma_swizzle-3-padded.cu"
}
#undef mma_swizzle
#define mma_swizzle mma_swizzle_solution
namespace m4 {
#include "solutions/14-tensor-cores/mma_swizzle.cu"
}
#undef mma_swizzle
#define warpgroup_tiles warpgroup_tiles_1
namespace g1 {
#include "solutions/14-tensor-cores/warpgroup_tiles-1-waits.cu"
}
#undef warpgroup_tiles
#define warpgroup_tiles warpgroup_tiles_2
namespace g2 {
#include "solutions/14-tensor-cores/warpgroup_tiles-2-swizzled.cu"
}
#undef warpgroup_tiles
#define warpgroup_tiles warpgroup_tiles_3
namespace g3 {
#include "solutions/14-tensor-cores/warpgroup_tiles-3-two-buffers.cu"
}
#undef warpgroup_tiles
#define warpgroup_tiles warpgroup_tiles_4
namespace g4 {
#include "solutions/14-tensor-cores/warpgroup_tiles-4-six-buffers.cu"
}
#undef warpgroup_tiles
#define warpgroup_tiles warpgroup_tiles_solution
namespace g5 {
#include "solutions/14-tensor-cores/warpgroup_tiles.cu"
}
#undef warpgroup_tiles
#define half_sums half_sums_1
namespace h1 {
#include "solutions/14-tensor-cores/half_sums-1-halves.cu"
}
#undef half_sums
#define half_sums half_sums_2
namespace h2 {
#include "solutions/14-tensor-cores/half_sums-2-pairs.cu"
}
#undef half_sums
#define half_sums half_sums_3
namespace h3 {
#include "solutions/14-tensor-cores/half_sums-3-vectors.cu"
}
#undef half_sums
#define half_sums half_sums_solution
namespace h4 {
#include "solutions/14-tensor-cores/half_sums.cu"
}
#undef half_sums
#define attention attention_1
namespace a1 {
#include "solutions/14-tensor-cores/attention-1-three-kernels.cu"
}
#undef attention
#define attention attention_2
namespace a2 {
#include "solutions/14-tensor-cores/attention-2-one-pass.cu"
}
#undef attention
#define attention attention_3
namespace a3 {
#include "solutions/14-tensor-cores/attention-3-fragments.cu"
}
#undef attention
#define attention attention_solution
namespace a4 {
#include "solutions/14-tensor-cores/attention.cu"
}
#undef attention

static unsigned *bad;

__global__ void draw(half *p, size_t n, unsigned seed) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        unsigned v = (unsigned)i * 2654435761u + seed;
        v ^= v >> 15, v *= 2246822519u, v ^= v >> 13, v *= 3266489917u, v ^= v >> 16;
        p[i] = __float2half((int)(v % 4001) / 2000.0f - 1.0f);
    }
}
__global__ void turn(half *to, const half *b, int k, int m) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (size_t)k * m; i += (size_t)gridDim.x * blockDim.x)
        to[i % m * k + i / m] = b[i];
}
__global__ void differ(const float *a, const float *b, size_t n, float allowed, unsigned *bad) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        if (!(fabsf(a[i] - b[i]) <= allowed)) atomicAdd(bad, 1u);
}
// Rows of 1024 halves in place, a warp a row.
__global__ void half_softmax(half *s, int rows) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    half2 *p = (half2 *)(s + (size_t)row * 1024);
    float2 v[16];
    float most = -INFINITY, sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) v[i] = __half22float2(p[i * 32 + lane]), most = fmaxf(most, fmaxf(v[i].x, v[i].y));
    for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
#pragma unroll
    for (int i = 0; i < 16; i++) v[i].x = __expf(v[i].x - most), v[i].y = __expf(v[i].y - most), sum += v[i].x + v[i].y;
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
#pragma unroll
    for (int i = 0; i < 16; i++) p[i * 32 + lane] = __floats2half2_rn(v[i].x / sum, v[i].y / sum);
}

struct widen {
    __host__ __device__ float operator()(half v) const { return __half2float(v); }
};
struct start_of {
    int cols;
    __host__ __device__ size_t operator()(int row) const { return (size_t)row * cols; }
};

// One exercise: where results come, what they should be (of the first call), how far they may be off.
struct exercise {
    const char *name;
    size_t n;
    float allowed, *out, *want;
    bool first;
    exercise(const char *name, size_t n, float allowed) : name(name), n(n), allowed(allowed), first(true) {
        cudaMalloc(&out, n * 4), cudaMalloc(&want, n * 4);
    }
    void operator()(const char *variant, std::function<void(float *)> f) {
        cudaMemset(out, 255, n * 4);
        float us = cold_median([&] { f(out); });
        if (first) std::swap(out, want), first = false, f(out);
        unsigned wrong = 0;
        cudaMemset(bad, 0, 4);
        differ<<<1024, 256>>>(out, want, n, allowed, bad);
        cudaMemcpy(&wrong, bad, 4, cudaMemcpyDeviceToHost);
        printf("%s\t%s\t%.2f\t%s\n", name, variant, us, wrong || cudaGetLastError() ? "WRONG" : "right");
        fflush(stdout);
    }
};

static half *halves(size_t n, unsigned seed) {
    half *p;
    cudaMalloc(&p, n * 2);
    draw<<<1024, 256>>>(p, n, seed);
    return p;
}

int main() {
    const float one = 1, zero = 0, eighth = 0.125f;
    cublasHandle_t h;
    cublasCreate(&h);
    cudaMalloc(&bad, 4);

    const int n = 1536, k = 1024, m = 1408;
    half *a = halves(n * k, 1), *b = halves(k * m, 77), *t = halves(k * m, 0);
    turn<<<512, 256>>>(t, b, k, m);
    exercise w("wmma_gemm", (size_t)n * m, 2e-3f), s("mma_swizzle", (size_t)n * m, 2e-3f), g("warpgroup_tiles", (size_t)n * m, 2e-3f);
    w("1-tiles", [&](float *c) { w1::wmma_gemm_1(c, a, b, n, k, m); });
    w("2-warp-tiles", [&](float *c) { w2::wmma_gemm_2(c, a, b, n, k, m); });
    w("3-shared", [&](float *c) { w3::wmma_gemm_3(c, a, b, n, k, m); });
    w("solution", [&](float *c) { w4::wmma_gemm_solution(c, a, b, n, k, m); });
    w("cublasGemmEx", [&](float *c) {
        cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, b, CUDA_R_16F, m, a, CUDA_R_16F, k, &zero, c, CUDA_R_32F, m,
                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    });
    s("1-words", [&](float *c) { m1::mma_swizzle_1(c, a, t, n, m, k); });
    s("2-ldmatrix", [&](float *c) { m2::mma_swizzle_2(c, a, t, n, m, k); });
    s("3-padded", [&](float *c) { m3::mma_swizzle_3(c, a, t, n, m, k); });
    s("solution", [&](float *c) { m4::mma_swizzle_solution(c, a, t, n, m, k); });
    s("cublasGemmEx", [&](float *c) {
        cublasGemmEx(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, t, CUDA_R_16F, k, a, CUDA_R_16F, k, &zero, c, CUDA_R_32F, m,
                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    });
    g("1-waits", [&](float *c) { g1::warpgroup_tiles_1(c, a, t, n, m, k); });
    g("2-swizzled", [&](float *c) { g2::warpgroup_tiles_2(c, a, t, n, m, k); });
    g("3-two-buffers", [&](float *c) { g3::warpgroup_tiles_3(c, a, t, n, m, k); });
    g("4-six-buffers", [&](float *c) { g4::warpgroup_tiles_4(c, a, t, n, m, k); });
    g("solution", [&](float *c) { g5::warpgroup_tiles_solution(c, a, t, n, m, k); });
    g("cublasGemmEx", [&](float *c) {
        cublasGemmEx(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, t, CUDA_R_16F, k, a, CUDA_R_16F, k, &zero, c, CUDA_R_32F, m,
                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    });

    const int rows = 16384, cols = 4096;
    half *x = halves((size_t)rows * cols, 5);
    exercise sums("half_sums", rows, 2e-3f);
    sums("1-halves", [&](float *o) { h1::half_sums_1(o, x, rows, cols); });
    sums("2-pairs", [&](float *o) { h2::half_sums_2(o, x, rows, cols); });
    sums("3-vectors", [&](float *o) { h3::half_sums_3(o, x, rows, cols); });
    sums("solution", [&](float *o) { h4::half_sums_solution(o, x, rows, cols); });
    auto values = thrust::make_transform_iterator((const half *)x, widen());
    auto starts = thrust::make_transform_iterator(thrust::make_counting_iterator(0), start_of{cols});
    size_t bytes = 0;
    void *temporary = nullptr;
    cub::DeviceSegmentedReduce::Sum(nullptr, bytes, values, sums.out, rows, starts, starts + 1);
    cudaMalloc(&temporary, bytes + 1);
    sums("cub::DeviceSegmentedReduce", [&](float *o) {
        cub::DeviceSegmentedReduce::Sum(temporary, bytes, values, o, rows, starts, starts + 1);
    });

    const int heads = 16, len = 1024;
    size_t each = (size_t)heads * len * 64;
    half *q = halves(each, 11), *kk = halves(each, 12), *v = halves(each, 13), *scores;
    cudaMalloc(&scores, (size_t)heads * len * len * 2);
    exercise at("attention", each, 1e-3f);
    at("1-three-kernels", [&](float *o) { a1::attention_1(o, q, kk, v, heads, len); });
    at("2-one-pass", [&](float *o) { a2::attention_2(o, q, kk, v, heads, len); });
    at("3-fragments", [&](float *o) { a3::attention_3(o, q, kk, v, heads, len); });
    at("solution", [&](float *o) { a4::attention_solution(o, q, kk, v, heads, len); });
    at("cublas twice, softmax between", [&](float *o) {
        cublasGemmStridedBatchedEx(h, CUBLAS_OP_T, CUBLAS_OP_N, len, len, 64, &eighth, kk, CUDA_R_16F, 64, len * 64, q, CUDA_R_16F,
                                   64, len * 64, &zero, scores, CUDA_R_16F, len, (long long)len * len, heads, CUBLAS_COMPUTE_32F,
                                   CUBLAS_GEMM_DEFAULT);
        half_softmax<<<heads * len / 8, 256>>>(scores, heads * len);
        cublasGemmStridedBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 64, len, len, &one, v, CUDA_R_16F, 64, len * 64, scores, CUDA_R_16F,
                                   len, (long long)len * len, &zero, o, CUDA_R_32F, 64, len * 64, heads, CUBLAS_COMPUTE_32F,
                                   CUBLAS_GEMM_DEFAULT);
    });
}
