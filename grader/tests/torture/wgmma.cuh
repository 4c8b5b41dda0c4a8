// wgmma.cuh: what the programs with products of warpgroups have in common: m64n8k16 of halves, matrices without swizzle, all elements 1.
#pragma once
#include "../programs/check.h"
#include <cuda_fp16.h>

enum { A = 64 * 16, B = 8 * 16 }; // elements of the matrices

__device__ inline unsigned at(const void *s) { return (unsigned)__cvta_generic_to_shared(s); }
// Chunks of 16 bytes: eight rows of one follow each other, 128 bytes on is the next along k, 256 bytes on the next eight rows.
__device__ inline unsigned long long matrix(const void *s) { return at(s) >> 4 | 8ull << 16 | 16ull << 32; }
__device__ inline void multiply(float (&d)[4], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b));
}
__device__ inline void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT = 0> __device__ inline void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory"); }
// Writes n halves, and shows them to wgmma.
__device__ inline void fill(__half *s, int n, float value) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = __float2half(value);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void put(float *out, const float (&d)[4]) {
    for (int i = 0; i < 4; i++) out[i * 128 + threadIdx.x] = d[i];
}

template <class K> static void run(K kernel, int threads = 128) {
    float *p, host[512] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    kernel<<<1, threads>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%g %g\n", host[0], host[511]);
}
