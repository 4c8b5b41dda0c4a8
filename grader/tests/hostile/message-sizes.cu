// RTE/WA/AC/MLE/TLE | own | sizes and addresses around 2^31, 2^32 and 2^64 | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (unsigned bit = 30; bit < 64; bit++)
        for (long d = -2; d <= 2; d++) {
            uint64_t x = (1ull << bit) + (uint64_t)d, base = (uint64_t)(uintptr_t)out;
            uint64_t write[] = {base, x, x, 1, 0}, rows[] = {base, 1, 1, x, 0}, far[] = {base + x, 1, 1, 1, 0}, fill[] = {base, x, x, x, 7};
            ask(OP_write, write, sizeof write), ask(OP_write, rows, sizeof rows), ask(OP_write, far, sizeof far), ask(OP_read, write, sizeof write), ask(OP_fill, fill, sizeof fill), ask(OP_range, &x, 8);
        }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
