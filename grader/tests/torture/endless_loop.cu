// A loop that never ends, while the other warps wait at a barrier.
// run: --budget 100000
#include "../programs/check.h"

__global__ void forever(volatile int *flag) {
    if (threadIdx.x < 32)
        while (*flag == 0) {}
    __syncthreads();
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, sizeof *p));
    CHECK(cudaMemset(p, 0, sizeof *p));
    forever<<<2, 96>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
