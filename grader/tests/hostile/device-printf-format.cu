// AC/RTE | 46 | device printf with %n, huge widths and a bad string | 
#include <stdio.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!i) printf("%999999999d %n %s %*d\033[2J\n", 1, &n, (const char *)in, 1 << 30, 2);
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
