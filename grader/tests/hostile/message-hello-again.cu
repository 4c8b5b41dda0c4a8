// RTE/WA/AC | own | greets the server again, as another process of another version | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t q[] = {i * 0x1000193u, i};
        ask(OP_hello, q, 8);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
