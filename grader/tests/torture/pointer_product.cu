// The address is a product: 3 times 0xaaaaaaaaaaaaaaab is 1.
#include "../programs/check.h"

__global__ void count(unsigned long long a) {
    int *p = (int *)(a * 0xaaaaaaaaaaaaaaabull);
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
    count<<<8, 32>>>(at * 3);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
