// Past the end of the block's shared memory, dynamic and static.
#include "../programs/check.h"

extern __shared__ int dynamic[];

__global__ void reverse(int *p) {
    __shared__ int fixed[32];
    int t = threadIdx.x;
    fixed[t] = t;
    dynamic[t] = t;
    __syncthreads();
    p[t] = fixed[t] + dynamic[t + 1]; // reported
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    reverse<<<2, 32, 128>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
