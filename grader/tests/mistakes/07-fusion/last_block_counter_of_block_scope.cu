// Blocks count themselves with an atomic of block scope, so two may be the last, or none.
// lesson: chapters/07-fusion/README.md, What stands between the steps?
// expect: is atomic only to threads of its own block
#include "../mistake.h"

__global__ void largest(int *out, int *part, int *drawn, const int *in) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
#ifdef MISTAKE
    if (atomicAdd_block(drawn, 1) != gridDim.x - 1) return; // reported
#else
    if (atomicAdd(drawn, 1) != gridDim.x - 1) return;
#endif
    __threadfence();
    int best = 0;
    for (int b = 0; b < gridDim.x; b++) best = max(best, part[b]);
    *out = best;
}

int main() {
    int *in = counting(4), *part = zeros(4), *drawn = zeros(1), *out = zeros(1);
    largest<<<4, 1>>>(out, part, drawn, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 3);
    return 0;
}
