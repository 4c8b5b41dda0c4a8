// RTE/WA/AC | own | looks up kernels and variables with names of forty thousand characters | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static char name[48000];
    memset(name, 'a', sizeof name);
    uint64_t module = 1;
    for (size_t s : {4095, 4096, 4097, 16384, 48000}) ask(OP_kernel_find, &module, 8, name, s), ask(OP_symbol_find, &module, 8, name, s);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
