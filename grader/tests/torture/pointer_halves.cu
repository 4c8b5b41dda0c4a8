// Blocks add without atomics to a word whose address comes in two halves.
#include "../programs/check.h"

__global__ void count(unsigned low, unsigned high) {
    int *p = (int *)((unsigned long long)high << 32 | low);
    if (threadIdx.x) return;
#ifdef FIXED
    atomicAdd(p, 1);
#else
    *p = *p + 1; // reported
#endif
}

int main() {
    int *p, *decoy;
    CHECK(cudaMalloc(&p, 4));
    CHECK(cudaMalloc(&decoy, 4));
    CHECK(cudaMemset(p, 0, 4));
    unsigned long long at = (unsigned long long)p;
    count<<<8, 32>>>((unsigned)at, (unsigned)(at >> 32));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
