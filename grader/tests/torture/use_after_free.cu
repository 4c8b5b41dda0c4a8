// A kernel that keeps using what was freed, though other memory was allocated since.
#include "../programs/check.h"

__global__ void set(int *p) { p[threadIdx.x] = 1; } // reported

int main() {
    int *p, *q;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaFree(p));
    CHECK(cudaMalloc(&q, 128));
    set<<<1, 32>>>(q);
    SHOW(cudaDeviceSynchronize());
    set<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
