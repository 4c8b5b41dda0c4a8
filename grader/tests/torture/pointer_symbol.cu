// The address comes from constant memory.
#include "../programs/check.h"

__constant__ int *target;

__global__ void count(int) {
    int *p = target;
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
    CHECK(cudaMemcpyToSymbol(target, &p, sizeof p));
    count<<<8, 32>>>(0);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
