// RTE/TLE/WA/AC/MLE | own | hundreds of thousands of allocations, freed from the first on | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static uint64_t a[200000];
    uint64_t bytes = 1;
    unsigned got = 0;
    for (; got < 200000 && ask(OP_alloc, &bytes, 8) == 0; got++) memcpy(&a[got], reply + sizeof(struct header), 8);
    for (unsigned i = 0; i < got && ask(OP_free, &a[i], 8) == 0; i++) {}
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
