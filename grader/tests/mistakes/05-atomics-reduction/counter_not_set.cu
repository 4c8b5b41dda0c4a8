// The counter is added to, although what it holds before may be anything.
// lesson: chapters/05-atomics-reduction/count_equal.md, count_equal: add up before you go to memory
// expect: uninitialized
#include "../mistake.h"

__global__ void count(int *total, const int *in) {
    if (in[threadIdx.x] == 7) atomicAdd(total, 1); // reported
}

int main() {
    int *in = counting(128), *total;
    CHECK(cudaMalloc(&total, sizeof *total));
#ifndef MISTAKE
    CHECK(cudaMemset(total, 0, sizeof *total));
#endif
    count<<<1, 128>>>(total, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(total) == 1);
    return 0;
}
