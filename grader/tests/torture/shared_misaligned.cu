// A vector load of shared memory that does not start at a multiple of 16.
#include "../programs/check.h"

__global__ void vectors(int4 *p) {
    __shared__ __align__(16) int s[132];
    for (int i = threadIdx.x; i < 132; i += 32) s[i] = i;
    __syncthreads();
    p[threadIdx.x] = *(int4 *)&s[threadIdx.x * 4 + 1]; // reported
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    vectors<<<1, 32>>>((int4 *)p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
