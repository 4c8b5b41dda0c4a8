// One block adds with an atomic of block scope, while the others add with ordinary ones.
// lesson: chapters/05-atomics-reduction/README.md, What an atomic does
// expect: is atomic only to threads of its own block
#include "../mistake.h"

__global__ void add(int *total, int *of_block) {
    if (blockIdx.x) atomicAdd(total, 1);
#ifdef MISTAKE
    else atomicAdd_block(total, 1); // reported
#else
    else atomicAdd_block(of_block, 1);
#endif
}
__global__ void join(int *total, const int *of_block) { *total += *of_block; }

int main() {
    int *total = zeros(1), *of_block = zeros(1);
    add<<<4, 64>>>(total, of_block);
    join<<<1, 1>>>(total, of_block);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(total) == 256);
    return 0;
}
