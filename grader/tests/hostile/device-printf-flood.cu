// AC/OLE/TLE/RTE | 46 | device printf without end | 
#include <stdio.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; i < n && j < 1000; j++) printf("flood %d %d\n", i, j);
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
