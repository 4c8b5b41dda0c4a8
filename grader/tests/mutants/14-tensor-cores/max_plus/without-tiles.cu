// expect: PART
// Pairs, but each thread reads all numbers from global memory.
#include <cuda_fp16.h>

__global__ void best_sums(half *__restrict__ out, const half *__restrict__ a, const half *__restrict__ b, int n, int k,
                          int m) {
    int i = blockIdx.y * 8, j = (blockIdx.x * 64 + threadIdx.x) * 2; // eight rows of two columns
    if (j >= m) return;
    half2 best[8];
    for (int r = 0; r < 8; r++) best[r] = __float2half2_rn(-INFINITY);
#pragma unroll 4
    for (int l = 0; l < k; l++) {
        half2 other = *reinterpret_cast<const half2 *>(b + (size_t)l * m + j);
#pragma unroll
        for (int r = 0; r < 8; r++)
            best[r] = __hmax2(best[r], __hadd2(__half2half2(a[(size_t)min(i + r, n - 1) * k + l]), other));
    }
    for (int r = 0; r < 8 && i + r < n; r++) *reinterpret_cast<half2 *>(out + (size_t)(i + r) * m + j) = best[r];
}

extern "C" void max_plus(half *out, const half *a, const half *b, int n, int k, int m) {
    dim3 blocks((m + 127) / 128, (n + 7) / 8);
    if (n > 0 && m > 0) best_sums<<<blocks, 64>>>(out, a, b, n, k, m);
}
