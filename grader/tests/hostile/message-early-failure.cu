// RTE | own | a constructor reports that the entry is missing | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
__attribute__((constructor)) static void early() {
    struct { uint32_t state, pad; } q = {2, 0};
    ask(OP_next_call, &q, 8, "\x1b[31mIE", 7);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
