// A kernel that writes through a null pointer: the launch succeeds, and every later call fails.
// stderr: out-of-bounds
// status: 1
#include "check.h"

__global__ void write(int *p) { p[threadIdx.x] = 1; }

int main() {
    int *p, *q;
    CHECK(cudaMalloc(&p, 128));
    write<<<1, 32>>>(nullptr);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
    SHOW(cudaMalloc(&q, 4));
    SHOW(cudaMemset(p, 0, 4));
    write<<<1, 32>>>(p);
    SHOW(cudaPeekAtLastError());
    return 1;
}
