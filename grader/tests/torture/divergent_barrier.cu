// Lanes of one warp that come to __syncthreads from two places.
#include "../programs/check.h"

__global__ void halves(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t % 32 < 16) {
        s[t] = t;
        __syncthreads();
        out[t] = s[t ^ 1];
    } else {
        s[t] = 2 * t;
        __syncthreads();
        out[t] = s[t ^ 2] + 1;
    }
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 64 * sizeof(int)));
    halves<<<2, 64>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
