// stderr: threads of
// ptxas's registers limit a launch's threads and an SM's blocks; each kernel has its own figure.
#include "check.h"

__global__ void few(float *p) { p[threadIdx.x] = 1; }

__global__ void many(float *p) { // 64 values that all depend on each other, and addresses: more than 64 registers, under 128
    float a[64];
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = p[threadIdx.x * 64 + i];
#pragma unroll
    for (int j = 0; j < 64; j++)
#pragma unroll
        for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + j) % 64] + p[65536 + j];
#pragma unroll
    for (int i = 0; i < 64; i++) p[threadIdx.x * 64 + i] = a[i];
}

__global__ void __launch_bounds__(1024) bounded(float *p) { p[threadIdx.x] = 2; }

int main() {
    float *p;
    cudaFuncAttributes a, b;
    int blocks_few, blocks_many;
    CHECK(cudaMalloc(&p, (65536 + 64) * sizeof *p));
    CHECK(cudaMemset(p, 0, (65536 + 64) * sizeof *p));
    CHECK(cudaFuncGetAttributes(&a, few));
    CHECK(cudaFuncGetAttributes(&b, many));
    printf("few %d, many %d\n", a.numRegs > 4 && a.numRegs <= 16, b.numRegs > 64 && b.numRegs <= 128);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_few, few, 256, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_many, many, 256, 0));
    printf("blocks of 256: few %d, many %d\n", blocks_few, blocks_many >= 2 && blocks_many <= 3);
    bounded<<<1, 1024>>>(p);
    SHOW(cudaGetLastError());
    many<<<1, 512>>>(p);
    SHOW(cudaGetLastError());
    many<<<1, 1024>>>(p); // a thread may have 64 of an SM's 65536 registers at that size
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    return 0;
}
