// One thread of each block adds to the result without an atomic.
// lesson: chapters/05-atomics-reduction/README.md, What an atomic does
// expect: data race between blocks
#include "../mistake.h"

__global__ void add(int *total, int value) {
    if (threadIdx.x == 0)
#ifdef MISTAKE
        *total += value; // reported
#else
        atomicAdd(total, value);
#endif
}

int main() {
    int *total = zeros(1);
    add<<<4, 32>>>(total, 5);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(total) == 20);
    return 0;
}
