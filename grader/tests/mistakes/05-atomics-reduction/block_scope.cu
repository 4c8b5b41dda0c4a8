// Blocks add to one word with atomics that are atomic only to threads of one block.
// lesson: chapters/05-atomics-reduction/README.md, What an atomic does
// expect: is atomic only to threads of its own block
#include "../mistake.h"

__global__ void add(int *total) {
#ifdef MISTAKE
    atomicAdd_block(total, 1); // reported
#else
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd_block(&sum, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, sum);
#endif
}

int main() {
    int *total = zeros(1);
    add<<<4, 64>>>(total);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(total) == 256);
    return 0;
}
