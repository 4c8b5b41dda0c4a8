// The halves of the address pass through an array in local memory.
#include "../programs/check.h"

__global__ void count(unsigned low, unsigned high, int first) {
    unsigned half[4];
    for (int i = 0; i < 4; i++) half[(i + first) % 4] = i % 2 ? high : low;
    int *p = (int *)((unsigned long long)half[(first + 1) % 4] << 32 | half[first % 4]);
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
    count<<<8, 32>>>((unsigned)at, (unsigned)(at >> 32), 2);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
