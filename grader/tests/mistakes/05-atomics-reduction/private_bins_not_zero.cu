// A block's private histogram is counted in before it is all zero.
// lesson: chapters/05-atomics-reduction/histogram.md, Hint 1
// expect: data race in shared memory
#include "../mistake.h"

__global__ void histogram(int *bins, const int *in) {
    __shared__ int mine[64];
    int t = threadIdx.x;
    if (t < 64) mine[t] = 0;
#ifndef MISTAKE
    __syncthreads();
#endif
    atomicAdd(&mine[in[t] * 7 % 64], 1); // reported
    __syncthreads();
    if (t < 64) atomicAdd(&bins[t], mine[t]);
}

int main() {
    int *in = counting(128), *bins = zeros(64);
    histogram<<<1, 128>>>(bins, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(bins, 5) == 2);
    return 0;
}
