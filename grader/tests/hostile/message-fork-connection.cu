// AC/RTE/WA/TLE | own | a child keeps the connection and sends requests after the entry has returned | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t bytes = 64;
    if (n && !fork())
        for (;;) ask(OP_alloc, &bytes, 8), usleep(500);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
