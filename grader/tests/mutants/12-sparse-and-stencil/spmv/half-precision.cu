// expect: WA
// Sums of halves keep 11 bits.

#include <cuda_fp16.h>
constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // eight for each of 132 SMs
constexpr unsigned ALL = 0xffffffff;

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows) {
    int lane = threadIdx.x % 32;
    for (int r = blockIdx.x * WARPS + threadIdx.x / 32; r < rows; r += gridDim.x * WARPS) {
        __half sum = 0.0f;
        int end = offsets[r + 1];
        for (int i = offsets[r] + lane; i < end; i += 32) sum = sum + __float2half(values[i] * x[columns[i]]);
        for (int d = 16; d > 0; d /= 2) sum = sum + __shfl_xor_sync(ALL, sum, d);
        if (lane == 0) y[r] = sum;
    }
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    int blocks = min((rows + WARPS - 1) / WARPS, MAX_BLOCKS);
    if (blocks > 0) multiply<<<blocks, THREADS>>>(y, offsets, columns, values, x, rows);
}
