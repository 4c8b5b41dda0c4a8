// The last steps of a reduction within one warp, without __syncwarp and without volatile.
#include "../programs/check.h"

__global__ void reduce(int *p) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = p[t] + t;
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16]; // reported
        s[t] += s[t + 8];
    }
    __syncthreads();
    if (t < 8) p[t] = s[t];
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    reduce<<<1, 64>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
