// Two warps write one place.
#include "../programs/check.h"

__global__ void both(int *p) {
    __shared__ int s[32];
    s[threadIdx.x % 32] = threadIdx.x; // reported
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x % 32];
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    both<<<1, 64>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
