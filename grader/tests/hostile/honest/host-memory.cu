// AC | - | a vector of 100 MB, files in its folder | 
#include <vector>
#include <stdio.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    std::vector<char> v(100 << 20, 1);
    FILE *f = fopen("notes", "w");
    if (f) fputs("x", f), fclose(f);
    if (v[n] != 1) return;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
