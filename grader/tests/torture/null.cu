// A null pointer, in a block of a grid.
#include "../programs/check.h"

__global__ void set(int *p, const int *q) { p[threadIdx.x] = q[threadIdx.x + 2]; } // reported

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    set<<<3, 32>>>(p, nullptr);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
