// AC/RTE/TLE/OLE/MLE | 46 | assertions, printf of long strings, in each of a hundred launches | 
#include <cstdio>
__global__ void say(const int *in) { printf("%s %1000d %.1000f\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", in[0], 1.0); }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; n && i < 100; i++) say<<<4, 256>>>(in);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
