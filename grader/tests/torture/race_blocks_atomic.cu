// Atomics of some blocks and a plain store of another on one place.
#include "../programs/check.h"

__global__ void count(int *p) {
    if (blockIdx.x == 3) *p = 100; // reported
    else atomicAdd(p, 1);
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    count<<<8, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
