// expect: PART
// A warp has 32 x 32 elements, and hands values of a on by shuffles: next to no reads of shared memory.

#include <cuda_fp16.h>

constexpr int TILE = 32;

// A lane has a column of the tile.
__global__ void product(float *c, const half *a, const half *b, int n, int k, int m) {
    __shared__ float b_row[TILE];
    int lane = threadIdx.x, top = blockIdx.y * TILE, col = blockIdx.x * TILE + lane;
    float sum[TILE] = {};
    for (int l = 0; l < k; l++) {
        float mine = top + lane < n ? __half2float(a[(size_t)(top + lane) * k + l]) : 0.0f; // of a row
        b_row[lane] = col < m ? __half2float(b[(size_t)l * m + col]) : 0.0f;
        float value = *(volatile float *)&b_row[lane];
#pragma unroll
        for (int i = 0; i < TILE; i++) sum[i] += __shfl_sync(0xffffffff, mine, i) * value;
    }
#pragma unroll
    for (int i = 0; i < TILE; i++)
        if (top + i < n && col < m) c[(size_t)(top + i) * m + col] = sum[i];
}

extern "C" void wmma_gemm(float *c, const half *a, const half *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    product<<<dim3((m + TILE - 1) / TILE, (n + TILE - 1) / TILE), TILE>>>(c, a, b, n, k, m);
}
