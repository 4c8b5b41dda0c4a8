// Lanes of one store that write different values to one place.
#include "../programs/check.h"

__global__ void last_wins(int *p) {
    __shared__ int s[16];
    s[threadIdx.x / 2] = threadIdx.x; // reported
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x / 2];
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    last_wins<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
