// Blocks add to one word; the last one reads it, but no fence comes before the count.
// lesson: chapters/05-atomics-reduction/README.md, The last block
// expect: data race between blocks
#include "../mistake.h"

__global__ void add(int *total, int *count, int *out) {
    atomicAdd(total, 1);
#ifndef MISTAKE
    __threadfence();
#endif
    if (atomicAdd(count, 1) < gridDim.x - 1) return;
    __threadfence();
    *out = *total; // reported
}

int main() {
    int *total = zeros(1), *count = zeros(1), *out = zeros(1);
    add<<<4, 1>>>(total, count, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 4);
    return 0;
}
