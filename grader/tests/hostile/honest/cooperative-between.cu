// AC | - | a cooperative launch, then an allocation, then another launch | 
#include <cooperative_groups.h>
__global__ void wait() { cooperative_groups::this_grid().sync(); }
__global__ void k(int *out, const int *in, const int *one, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + one[0] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int *one;
    if (!n) return;
    cudaLaunchCooperativeKernel(wait, dim3(4), dim3(64), (void **)0, 0, 0);
    if (cudaMalloc(&one, 4)) return;
    cudaMemset(one, 0, 4);
    k<<<(n + 255) / 256, 256>>>(out, in, one, n);
    cudaFree(one);
}
