// The address is a parameter, changed by a key.
#include "../programs/check.h"

__global__ void count(unsigned long long a) {
    int *p = (int *)(a ^ 0x5a5a5a5a5a5a5a5aull);
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
    count<<<8, 32>>>(at ^ 0x5a5a5a5a5a5a5a5aull);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
