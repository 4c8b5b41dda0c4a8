// RTE/WA/AC | own | uses invented modules, kernels and addresses | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t v[] = {0, 2, 255, 256, 257, 16384, 1ull << 31, 1ull << 32, (1ull << 32) + 1, ~0ull};
    for (uint64_t x : v) {
        uint64_t limit[] = {x, ~0ull}, occupancy[] = {x, ~0ull, ~0ull};
        ask(OP_module_unload, &x, 8), ask(OP_kernel_find, &x, 8, "k", 1), ask(OP_kernel_limit, limit, 16), ask(OP_symbol_find, &x, 8, "k", 1), ask(OP_occupancy, occupancy, 24);
        ask(OP_free, &x, 8), ask(OP_range, &x, 8);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
