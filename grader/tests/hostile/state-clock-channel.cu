// AC/RTE/WA | 6 | the host reads how long the last replay took | 
#include <cstdio>
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static int calls;
    ask(OP_sync, "", 0);
    if (calls++ && ((struct header *)reply)->time) printf("LEAK: %llu ns\n", (unsigned long long)((struct header *)reply)->time);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
