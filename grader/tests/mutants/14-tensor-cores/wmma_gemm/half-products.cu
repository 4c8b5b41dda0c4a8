// expect: WA
// Two products at a time, by fused operations of halves: each result has eleven bits.

#include <cuda_fp16.h>

constexpr int TILE = 32;

__device__ float element(const half *matrix, int row, int col, int rows, int cols) {
    return row < rows && col < cols ? __half2float(matrix[(size_t)row * cols + col]) : 0.0f;
}

__global__ void product(float *c, const half *a, const half *b, int n, int k, int m) {
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    half sum = __float2half(0.0f);
    for (int start = 0; start < k; start += TILE) {
        a_tile[y][x] = element(a, row, start + x, n, k);
        b_tile[y][x] = element(b, start + y, col, k, m);
        __syncthreads();
        for (int l = 0; l < TILE; l++) sum = __hfma(__float2half(a_tile[y][l]), __float2half(b_tile[l][x]), sum);
        __syncthreads();
    }
    if (row < n && col < m) c[(size_t)row * m + col] = __half2float(sum);
}

extern "C" void wmma_gemm(float *c, const half *a, const half *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    product<<<grid, dim3(TILE, TILE)>>>(c, a, b, n, k, m);
}
