// The barrier at the end of a loop over tiles is missing: a fast warp overwrites what a slow one still reads.
#include "../programs/check.h"

__global__ void sums(int *p) {
    __shared__ int tile[128];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[t] = p[t] + k;
        __syncthreads();
        for (int i = 0; i < 128; i++) sum += tile[i];
    }
    p[t] = sum;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    sums<<<1, 128>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
