// Step 3: an instruction adds, or compares, two halves: those of neighbouring columns.

#include <cuda_fp16.h>

constexpr int TILE = 64;  // rows of out, and pairs of columns, that a block computes
constexpr int DEPTH = 16; // numbers of k in shared memory at a time
constexpr int PART = 4;   // rows, and pairs of columns, that a thread computes

__global__ void best_sums(half *__restrict__ out, const half *__restrict__ a, const half *__restrict__ b, int n, int k,
                          int m) {
    __shared__ half2 left[DEPTH][TILE + 1], right[DEPTH][TILE]; // left: a number of a twice
    int x = threadIdx.x, y = threadIdx.y, self = y * blockDim.x + x;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE * 2;
    half2 none = __float2half2_rn(-INFINITY), best[PART][PART];
    for (int r = 0; r < PART; r++)
        for (int c = 0; c < PART; c++) best[r][c] = none;
    for (int from = 0; from < k; from += DEPTH) {
        for (int i = self; i < TILE * DEPTH; i += blockDim.x * blockDim.y) {
            int r = i / DEPTH, l = i % DEPTH, c = 2 * (i % TILE), t = i / TILE;
            bool has_left = row + r < n && from + l < k, has_right = column + c < m && from + t < k;
            left[l][r] = has_left ? __half2half2(a[(size_t)(row + r) * k + from + l]) : none;
            const half *two = b + (size_t)(from + t) * m + column + c;
            right[t][c / 2] = has_right ? *reinterpret_cast<const half2 *>(two) : none;
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
            int i = row + y * PART + r, j = column + 2 * (x + c * (TILE / PART));
            if (i < n && j < m) *reinterpret_cast<half2 *>(out + (size_t)i * m + j) = best[r][c];
        }
}

extern "C" void max_plus(half *out, const half *a, const half *b, int n, int k, int m) {
    dim3 blocks((m + 2 * TILE - 1) / (2 * TILE), (n + TILE - 1) / TILE), threads(TILE / PART, TILE / PART);
    if (n > 0 && m > 0) best_sums<<<blocks, threads>>>(out, a, b, n, k, m);
}
