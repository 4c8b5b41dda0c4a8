// A store past the end of a buffer, by the threads of one block of several.
#include "../programs/check.h"

__global__ void shift(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i + 3] = i; // reported
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    shift<<<8, 32>>>(p, 256);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
