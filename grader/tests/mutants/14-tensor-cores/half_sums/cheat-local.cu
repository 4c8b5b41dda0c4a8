// expect: PART
// Sixteen bytes a lane, and from there a half at a time, by an index: the array lies in local memory.

#include <cuda_fp16.h>

constexpr int THREADS = 256;
constexpr unsigned ALL = 0xffffffff;

__device__ float sum_over_warp(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(ALL, v, d);
    return v;
}

__global__ void add(float *sums, const half *x, int rows, int cols) {
    int row = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32; // a warp a row
    if (row >= rows) return;
    const half *mine = x + (size_t)row * cols;
    float sum = 0.0f;
    for (int i = lane * 8; i < cols; i += 256) {
        uint4 v = *reinterpret_cast<const uint4 *>(&mine[i]);
        volatile unsigned short bits[8];
        for (int e = 0; e < 4; e++) bits[2 * e] = (&v.x)[e] & 0xffff, bits[2 * e + 1] = (&v.x)[e] >> 16;
#pragma unroll 1
        for (int e = 0; e < 8; e++) sum += __half2float(__ushort_as_half(bits[e]));
    }
    sum = sum_over_warp(sum);
    if (lane == 0) sums[row] = sum;
}

extern "C" void half_sums(float *sums, const half *x, int rows, int cols) {
    if (rows == 0) return;
    int warps = THREADS / 32;
    add<<<(rows + warps - 1) / warps, THREADS>>>(sums, x, rows, cols);
}
