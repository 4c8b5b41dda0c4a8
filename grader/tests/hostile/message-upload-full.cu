// AC/RTE/TLE/WA | own | uploads that announce 256 MiB, again and again | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t q[] = {0, 1 << 20, 256ull << 20}, r[] = {(256ull << 20) - 1, 1, 256ull << 20}, bytes = 256ull << 20;
        ask(OP_upload, q, sizeof q), ask(OP_upload, r, sizeof r);
        if (i % 1000 == 999) ask(OP_module_load, &bytes, 8);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
