// max_plus: the model solution. As step 4, but a thread loads its part of the next tile before it uses this one, and the launch bounds
// let five blocks share an SM.

#include <cuda_fp16.h>

constexpr int ROWS = 64;       // rows of out that a block computes
constexpr int COLUMNS = 128;   // and columns
constexpr int DEPTH = 16;      // numbers of k in shared memory at a time
constexpr int THREADS = 128;   // 8 rows of 16 threads; each computes 8 rows of 8 columns
constexpr int BLOCKS_PER_SM = 5;
constexpr unsigned NONE = 0xfc00fc00; // twice the half -infinity
constexpr int PITCH = ROWS + 4;

__device__ half2 pair(unsigned bits) { return *reinterpret_cast<half2 *>(&bits); }

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) best_sums(half *__restrict__ out, const half *__restrict__ a,
                                                                    const half *__restrict__ b, int n, int k, int m) {
    __shared__ __align__(16) unsigned left[DEPTH][PITCH]; // each number of a twice
    __shared__ uint4 right[DEPTH][COLUMNS / 8];           // eight numbers of b
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    int row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS;
    int r = threadIdx.x / 2, chunk = threadIdx.x % 2 * 8; // what the thread loads of a: 8 numbers of a row
    const uint4 none = {NONE, NONE, NONE, NONE};
    __align__(16) half2 best[8][4];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) best[i][j] = pair(NONE);
    constexpr int LOADS = DEPTH / (THREADS / 16); // rows of b that a thread loads a part of
    uint4 v, w[LOADS];                            // what it has loaded of the next tile
    auto load = [&](int from) {
        v = none;
        if (row + r < n && from + chunk < k) v = *reinterpret_cast<const uint4 *>(a + (size_t)(row + r) * k + from + chunk);
#pragma unroll
        for (int q = 0; q < LOADS; q++) {
            int t = y + q * (THREADS / 16);
            bool is_there = from + t < k && column + 8 * x < m;
            w[q] = is_there ? *reinterpret_cast<const uint4 *>(b + (size_t)(from + t) * m + column + 8 * x) : none;
        }
    };
    load(0);
    for (int from = 0; from < k; from += DEPTH) {
        unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            left[chunk + 2 * i][r] = __byte_perm(word[i], 0, 0x1010);     // the lower half twice
            left[chunk + 2 * i + 1][r] = __byte_perm(word[i], 0, 0x3232); // the upper half twice
        }
#pragma unroll
        for (int q = 0; q < LOADS; q++) right[y + q * (THREADS / 16)][x] = w[q];
        __syncthreads();
        load(from + DEPTH); // arrives while this tile is used
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            uint4 upper = *reinterpret_cast<uint4 *>(&left[l][8 * y]), lower = *reinterpret_cast<uint4 *>(&left[l][8 * y + 4]);
            uint4 columns = right[l][x];
            half2 mine[8] = {pair(upper.x), pair(upper.y), pair(upper.z), pair(upper.w),
                             pair(lower.x), pair(lower.y), pair(lower.z), pair(lower.w)};
            half2 other[4] = {pair(columns.x), pair(columns.y), pair(columns.z), pair(columns.w)};
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) best[i][j] = __hmax2(best[i][j], __hadd2(mine[i], other[j]));
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int at = row + 8 * y + i;
        if (at < n && column + 8 * x < m)
            *reinterpret_cast<uint4 *>(out + (size_t)at * m + column + 8 * x) = *reinterpret_cast<uint4 *>(best[i]);
    }
}

extern "C" void max_plus(half *out, const half *a, const half *b, int n, int k, int m) {
    dim3 blocks((m + COLUMNS - 1) / COLUMNS, (n + ROWS - 1) / ROWS);
    if (n > 0 && m > 0) best_sums<<<blocks, THREADS>>>(out, a, b, n, k, m);
}
