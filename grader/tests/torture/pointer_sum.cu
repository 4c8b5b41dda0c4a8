// The address is the sum of two parameters, neither of which is one.
#include "../programs/check.h"

__global__ void count(long a, long b) {
    int *p = (int *)(a + b);
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
    count<<<8, 32>>>(12345, (long)at - 12345);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
