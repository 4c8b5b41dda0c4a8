// A lane that takes part in a shuffle without being in the mask that it passes.
#include "../programs/check.h"

__global__ void odd(int *p) {
    int t = threadIdx.x;
    p[t] = __shfl_xor_sync(0x0000ffffu, t, 1); // reported
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    odd<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
