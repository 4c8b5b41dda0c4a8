// AC | - | asks the device what it is | 
#include <stdio.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    cudaDeviceProp p;
    int blocks;
    size_t free, total;
    cudaGetDeviceProperties(&p, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 256, 0);
    cudaMemGetInfo(&free, &total);
    if (p.multiProcessorCount < 1) return;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
