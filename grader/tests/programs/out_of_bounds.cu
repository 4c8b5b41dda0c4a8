// One element past the end: the report names the line, the thread and the distance.
// stderr: out-of-bounds
// stderr: out_of_bounds.cu:8
#include "check.h"

__global__ void fill(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) p[i] = i; // one too many
}

int main() {
    int *p, n = 1000;
    CHECK(cudaMalloc(&p, n * sizeof(int)));
    fill<<<4, 256>>>(p, n);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
