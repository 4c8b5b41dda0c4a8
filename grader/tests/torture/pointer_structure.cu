// The halves of the address are apart in a structure.
#include "../programs/check.h"

struct parts {
    unsigned low, between, high;
};

__global__ void count(struct parts a) {
    int *p = (int *)((unsigned long long)a.high << 32 | a.low);
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
    count<<<8, 32>>>((parts{(unsigned)at, 7, (unsigned)(at >> 32)}));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
