// From one buffer into another, by their distance: found once a store has left the first.
#include "../programs/check.h"

__global__ void count(int *decoy, long distance) {
    int *p = (int *)((char *)decoy + distance);
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
    for (int i = 0; i < 2; i++) count<<<8, 32>>>(decoy, (char *)p - (char *)decoy);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
