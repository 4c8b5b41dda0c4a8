// The halves of the address meet in a shuffle.
#include "../programs/check.h"

__global__ void count(unsigned low, unsigned high) {
    unsigned half = threadIdx.x % 2 ? high : low, other = __shfl_xor_sync(~0u, half, 1);
    int *p = (int *)((unsigned long long)(threadIdx.x % 2 ? half : other) << 32 | (threadIdx.x % 2 ? other : half));
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
