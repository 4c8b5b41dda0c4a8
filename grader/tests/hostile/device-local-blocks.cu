// AC/MLE/RTE/TLE/WA | own | 400 KB of local memory in each of as many threads as fit | 
#include <cooperative_groups.h>
__global__ void k(int *out, const int *in, int n) {
    int a[100000], i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < 100000; j += 1024) a[j] = i + j;
    cooperative_groups::this_grid().sync();
    if (i < n) out[i] = in[i] + 1 + (a[(i & 63) * 1024] == -5);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    void *args[] = {&out, &in, &n};
    if (n && n <= 65536) cudaLaunchCooperativeKernel(k, dim3((n > 4000 ? n : 132 * 1024) / 1024), dim3(1024), args, 0, 0);
    else if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
