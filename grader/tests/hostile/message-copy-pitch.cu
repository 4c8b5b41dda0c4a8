// RTE/WA/TLE/AC | own | copies whose pitch times rows exceeds 2^64, or is 0 | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t v[] = {0, 1, 2, 1ull << 31, (1ull << 32) - 1, 1ull << 32, 1ull << 63, ~0ull}, a;
    uint64_t bytes = 1 << 20;
    ask(OP_alloc, &bytes, 8), memcpy(&a, reply + sizeof(struct header), 8);
    for (uint64_t p : v) for (uint64_t w : v) for (uint64_t r : v) {
        uint64_t copy[] = {a, p, a + 8, p, w, r}, fill[] = {a, p, w, r, 0xff}, write[] = {a, p, w, r, 0};
        if ((w == 1 || w == 2) && r > 2 && r <= 1ull << 32 && !p) continue;
        ask(OP_copy, copy, sizeof copy), ask(OP_fill, fill, sizeof fill), ask(OP_write, write, sizeof write), ask(OP_read, write, sizeof write);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
