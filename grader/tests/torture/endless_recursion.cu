// Recursion without end.
#include "../programs/check.h"

__device__ __noinline__ int deeper(int n, volatile int *p) { return *p ? deeper(n + 1, p) + n : n; }

__global__ void start(int *p) { p[1] = deeper(threadIdx.x, p); }

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 2 * sizeof *p));
    CHECK(cudaMemset(p, 1, 2 * sizeof *p));
    start<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
