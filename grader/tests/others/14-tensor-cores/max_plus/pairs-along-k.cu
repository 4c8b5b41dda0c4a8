// Pairs of neighbouring numbers of k: even and odd terms have maxima of their own, and the larger one is the result.
#include <cuda_fp16.h>

constexpr int TILE = 64;  // rows and columns of out that a block computes
constexpr int DEPTH = 16; // pairs of numbers of k in shared memory at a time
constexpr int PART = 4;   // rows and columns that a thread computes

__global__ void best_sums(half *__restrict__ out, const half *__restrict__ a, const half *__restrict__ b, int n, int k,
                          int m) {
    __shared__ half2 left[DEPTH][TILE + 1], right[DEPTH][TILE];
    int x = threadIdx.x, y = threadIdx.y, self = y * blockDim.x + x;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    half2 none = __float2half2_rn(-INFINITY), best[PART][PART];
    for (int r = 0; r < PART; r++)
        for (int c = 0; c < PART; c++) best[r][c] = none;
    for (int from = 0; from < k; from += 2 * DEPTH) {
        for (int i = self; i < TILE * DEPTH; i += blockDim.x * blockDim.y) {
            int r = i / DEPTH, l = i % DEPTH, c = i % TILE, t = i / TILE;
            bool has_left = row + r < n && from + 2 * l < k, has_right = column + c < m && from + 2 * t < k;
            left[l][r] = has_left ? *reinterpret_cast<const half2 *>(a + (size_t)(row + r) * k + from + 2 * l) : none;
            const half *two = b + (size_t)(from + 2 * t) * m + column + c;
            right[t][c] = has_right ? __halves2half2(two[0], two[m]) : none;
        }
        __syncthreads();
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            half2 mine[PART], other[PART];
            for (int r = 0; r < PART; r++) mine[r] = left[l][y * PART + r];
            for (int c = 0; c < PART; c++) other[c] = right[l][x + c * (TILE / PART)];
#pragma unroll
            for (int r = 0; r < PART; r++)
#pragma unroll
                for (int c = 0; c < PART; c++) best[r][c] = __hmax2(best[r][c], __hadd2(mine[r], other[c]));
        }
        __syncthreads();
    }
    for (int r = 0; r < PART; r++)
        for (int c = 0; c < PART; c++) {
            int i = row + y * PART + r, j = column + x + c * (TILE / PART);
            if (i < n && j < m) out[(size_t)i * m + j] = __hmax(__low2half(best[r][c]), __high2half(best[r][c]));
        }
}

extern "C" void max_plus(half *out, const half *a, const half *b, int n, int k, int m) {
    dim3 blocks((m + TILE - 1) / TILE, (n + TILE - 1) / TILE), threads(TILE / PART, TILE / PART);
    if (n > 0 && m > 0) best_sums<<<blocks, threads>>>(out, a, b, n, k, m);
}
