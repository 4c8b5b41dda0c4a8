// A histogram that is cleared by plain stores while others already count.
#include "../programs/check.h"

__global__ void histogram(int *p) {
    __shared__ int bins[32];
    int t = threadIdx.x;
    if (t < 32) bins[31 - t] = 0;
    atomicAdd(&bins[t % 32], 1); // reported
    __syncthreads();
    if (t < 32) p[t] = bins[t];
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    histogram<<<1, 128>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
