// A load before the start of a buffer, through two inlined functions: the line is the innermost one.
#include "../programs/check.h"

__device__ int left(const int *p, int i) { return p[i - 1]; } // reported
__device__ int both(const int *p, int i) { return left(p, i) + p[i]; }
__global__ void sum(const int *p, int *out) { out[threadIdx.x] = both(p, threadIdx.x); }

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    sum<<<1, 32>>>(p, p + 32);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
