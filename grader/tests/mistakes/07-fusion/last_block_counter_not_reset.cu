// The counter of the last block is not set back, so in the second launch no block is the last.
// lesson: chapters/07-fusion/README.md, What stands between the steps?
// expect: uninitialized
#include "../mistake.h"

__global__ void largest(int *out, int *part, unsigned *drawn, const int *in) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(drawn, 1) != gridDim.x - 1) return;
    __threadfence();
    int best = 0;
    for (int b = 0; b < gridDim.x; b++) best = max(best, part[b]);
    *out = best;
#ifndef MISTAKE
    *drawn = 0;
#endif
}
__global__ void twice(int *p) {
    if (*p > 0) *p *= 2; // reported
}

int main() {
    int *in = counting(4), *part = zeros(4), *out;
    unsigned *drawn = zeros<unsigned>(1);
    CHECK(cudaMalloc(&out, 2 * sizeof *out));
    for (int call = 0; call < 2; call++) largest<<<4, 1>>>(out + call, part, drawn, in);
    twice<<<1, 1>>>(out + 1);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out + 1) == 6);
    return 0;
}
