// AC | - | a grid that waits for itself, as many blocks as fit | 
#include <cooperative_groups.h>
__global__ void k(int *out, const int *in, int *t, int n) {
    int step = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += step) t[i] = in[i];
    cooperative_groups::this_grid().sync();
    for (int i = first; i < n; i += step) out[n - 1 - i] = t[n - 1 - i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int *t, blocks = 32;
    if (!n || cudaMalloc(&t, 4ul * n)) return;
    void *args[] = {&out, &in, &t, &n};
    cudaLaunchCooperativeKernel(k, dim3(blocks), dim3(128), args, 0, 0);
    cudaFree(t);
}
