// wmma_gemm: c = a * b; a is n x k, b is k x m, both of halves; c is n x m, of floats. n, k and m are multiples of 16.

#include <cuda_fp16.h>

constexpr int TILE = 32;

__device__ float element(const half *matrix, int row, int col, int rows, int cols) {
    return row < rows && col < cols ? __half2float(matrix[(size_t)row * cols + col]) : 0.0f;
}

__global__ void product(float *c, const half *a, const half *b, int n, int k, int m) {
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        a_tile[y][x] = element(a, row, start + x, n, k);
        b_tile[y][x] = element(b, start + y, col, k, m);
        __syncthreads();
        // TODO: a thread makes one multiplication and one addition with an instruction. What makes 4096 of each?
        for (int l = 0; l < TILE; l++) sum += a_tile[y][l] * b_tile[l][x];
        __syncthreads();
    }
    if (row < n && col < m) c[(size_t)row * m + col] = sum;
}

extern "C" void wmma_gemm(float *c, const half *a, const half *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    product<<<grid, dim3(TILE, TILE)>>>(c, a, b, n, k, m);
}
