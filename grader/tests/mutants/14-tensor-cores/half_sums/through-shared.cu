// expect: PART
// Sixteen bytes a lane into shared memory, and from there a half at a time.

#include <cuda_fp16.h>

constexpr int THREADS = 256;
constexpr unsigned ALL = 0xffffffff;

__device__ float sum_over_warp(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(ALL, v, d);
    return v;
}

__global__ void add(float *sums, const half *x, int rows, int cols) {
    int row = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32; // one warp per row
    if (row >= rows) return;
    const half *mine = x + (size_t)row * cols;
    float sum = 0.0f;
    __shared__ __align__(16) half piece[THREADS / 32][256];
    half *here = piece[threadIdx.x / 32];
    for (int first = 0; first < cols; first += 256) {
        int count = min(256, cols - first);
        if (lane * 8 < count)
            *reinterpret_cast<uint4 *>(&here[lane * 8]) = *reinterpret_cast<const uint4 *>(&mine[first + lane * 8]);
        __syncwarp();
        for (int i = lane; i < count; i += 32) sum += __half2float(here[i]);
        __syncwarp();
    }
    sum = sum_over_warp(sum);
    if (lane == 0) sums[row] = sum;
}

extern "C" void half_sums(float *sums, const half *x, int rows, int cols) {
    if (rows == 0) return;
    int warps = THREADS / 32;
    add<<<(rows + warps - 1) / warps, THREADS>>>(sums, x, rows, cols);
}
