// wgmma.cuh — products of a warpgroup, an instruction each: 64 x 16 halves by 16 x 8, without a swizzle.
#pragma once
#include "../mistake.h"
#include <cuda_fp16.h>

__device__ inline unsigned at(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }
__device__ inline unsigned long long matrix(const half *s) { return at(s) >> 4 | 8ull << 16 | 16ull << 32; }
__device__ inline void multiply(float (&d)[4], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b));
}
__device__ inline void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT = 0> __device__ inline void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory"); }
__device__ inline void show() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void fill(half *s, int n, float value) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = __float2half(value);
}
