// RTE | own | reports, in the entry, that the object is loaded | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    struct { uint32_t state, pad; } q = {0, 0};
    ask(OP_next_call, &q, 8);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
