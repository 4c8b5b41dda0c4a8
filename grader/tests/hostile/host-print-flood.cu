// OLE* | 46 | prints without end | 1 MiB
#include <stdio.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; i < 1000000; i++) puts("flood");
    fflush(stdout);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
