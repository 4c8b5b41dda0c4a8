// The same with more blocks than the device holds: those that run wait for ones that cannot start.
// run: --device t4 --budget 3000000
#include "../programs/check.h"

__global__ void meet(unsigned *count) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
    }
    __syncthreads();
}

int main() {
    unsigned *count;
    CHECK(cudaMalloc(&count, sizeof *count));
    CHECK(cudaMemset(count, 0, sizeof *count));
    meet<<<41, 1024>>>(count); // 40 SMs of one such block each
    SHOW(cudaDeviceSynchronize());
    return 0;
}
