// The kernel's first thread sets the result to 0 by a plain store, while other blocks add to it.
// lesson: chapters/05-atomics-reduction/count_equal.md, count_equal: add up before you go to memory
// expect: data race between blocks
#include "../mistake.h"

__global__ void reset(int *total) { *total = 0; }
__global__ void count(int *total, const int *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MISTAKE
    if (i == 0) *total = 0;
#endif
    if (in[i] % 2) atomicAdd(total, 1); // reported
}

int main() {
    int *in = counting(128), *total = zeros(1);
#ifndef MISTAKE
    reset<<<1, 1>>>(total);
#endif
    count<<<2, 64>>>(total, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(total) == 64);
    return 0;
}
