// A value that has no bin is counted behind the histogram.
// lesson: chapters/05-atomics-reduction/histogram.md, histogram: private bins, and skewed data
// expect: out-of-bounds
#include "../mistake.h"

__global__ void histogram(int *bins, const int *in) {
    int v = in[threadIdx.x];
#ifndef MISTAKE
    if (v < 256)
#endif
    atomicAdd(&bins[v], 1); // reported
}

int main() {
    int *in = counting(300), *bins = zeros(256);
    histogram<<<1, 300>>>(bins, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(bins, 5) == 1);
    return 0;
}
