// Blocks that write what other blocks read, and that write one place.
#include "../programs/check.h"

__global__ void shift(int *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = p[i + 1]; // reported: the last thread of a block reads what the next block writes
}

__global__ void sum(int *p) { *p += threadIdx.x; } // reported

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    shift<<<4, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    sum<<<4, 1>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
