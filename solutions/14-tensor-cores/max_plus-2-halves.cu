// Step 2: halves in registers, one for each instruction.

#include <cuda_fp16.h>

constexpr int TILE = 64;  // rows and columns of out that a block computes
constexpr int DEPTH = 16; // numbers of k in shared memory at a time
constexpr int PART = 4;   // rows and columns of out that a thread computes

__global__ void best_sums(half *__restrict__ out, const half *__restrict__ a, const half *__restrict__ b, int n, int k,
                          int m) {
    __shared__ half left[DEPTH][TILE + 1], right[DEPTH][TILE];
    int x = threadIdx.x, y = threadIdx.y, self = y * blockDim.x + x;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    half best[PART][PART];
    for (int r = 0; r < PART; r++)
        for (int c = 0; c < PART; c++) best[r][c] = __float2half(-INFINITY);
    for (int from = 0; from < k; from += DEPTH) {
        for (int i = self; i < TILE * DEPTH; i += blockDim.x * blockDim.y) {
            int r = i / DEPTH, l = i % DEPTH, c = i % TILE, t = i / TILE;
            bool has_left = row + r < n && from + l < k, has_right = column + c < m && from + t < k;
            left[l][r] = has_left ? a[(size_t)(row + r) * k + from + l] : __float2half(-INFINITY);
            right[t][c] = has_right ? b[(size_t)(from + t) * m + column + c] : __float2half(-INFINITY);
        }
        __syncthreads();
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            half mine[PART], other[PART];
            for (int r = 0; r < PART; r++) mine[r] = left[l][y * PART + r];
            for (int c = 0; c < PART; c++) other[c] = right[l][x + c * (TILE / PART)];
#pragma unroll
            for (int r = 0; r < PART; r++)
#pragma unroll
                for (int c = 0; c < PART; c++) best[r][c] = __hmax(best[r][c], __hadd(mine[r], other[c]));
        }
        __syncthreads();
    }
    for (int r = 0; r < PART; r++)
        for (int c = 0; c < PART; c++) {
            int i = row + y * PART + r, j = column + x + c * (TILE / PART);
            if (i < n && j < m) out[(size_t)i * m + j] = best[r][c];
        }
}

extern "C" void max_plus(half *out, const half *a, const half *b, int n, int k, int m) {
    dim3 blocks((m + TILE - 1) / TILE, (n + TILE - 1) / TILE), threads(TILE / PART, TILE / PART);
    if (n > 0 && m > 0) best_sums<<<blocks, threads>>>(out, a, b, n, k, m);
}
