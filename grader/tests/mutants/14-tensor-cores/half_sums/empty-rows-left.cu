// expect: WA
// Rows without elements are left as they are.

#include <cuda_fp16.h>

constexpr int THREADS = 256, AHEAD = 4; // loads that a lane has in flight
constexpr unsigned ALL = 0xffffffff;

__device__ float sum_over_warp(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(ALL, v, d);
    return v;
}

__device__ float sum_of_pair(unsigned word) {
    float2 pair = __half22float2(*reinterpret_cast<half2 *>(&word));
    return pair.x + pair.y;
}

__device__ float sum_of_eight(uint4 v) {
    return (sum_of_pair(v.x) + sum_of_pair(v.y)) + (sum_of_pair(v.z) + sum_of_pair(v.w));
}

__global__ void add(float *sums, const half *x, int rows, int cols) {
    int row = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32; // one warp per row
    if (row >= rows) return;
    const uint4 *mine = reinterpret_cast<const uint4 *>(x + (size_t)row * cols);
    float sum = 0.0f;
    for (int i = lane; i < cols / 8; i += 32 * AHEAD) {
        uint4 v[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) v[a] = i + 32 * a < cols / 8 ? mine[i + 32 * a] : uint4{0, 0, 0, 0};
#pragma unroll
        for (int a = 0; a < AHEAD; a++) sum += sum_of_eight(v[a]);
    }
    sum = sum_over_warp(sum);
    if (lane == 0) sums[row] = sum;
}

extern "C" void half_sums(float *sums, const half *x, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    int warps = THREADS / 32;
    add<<<(rows + warps - 1) / warps, THREADS>>>(sums, x, rows, cols);
}
