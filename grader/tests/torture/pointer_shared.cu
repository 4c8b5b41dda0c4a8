// The halves of the address meet in shared memory.
#include "../programs/check.h"

__global__ void count(unsigned low, unsigned high) {
    __shared__ __align__(8) unsigned half[2];
    if (threadIdx.x < 2) half[threadIdx.x] = threadIdx.x ? high : low;
    __syncthreads();
    int *p = *(int **)half;
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
