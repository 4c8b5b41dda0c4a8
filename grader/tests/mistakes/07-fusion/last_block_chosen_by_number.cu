// The block with the highest number adds up all parts; it need not be the last to finish.
// lesson: chapters/07-fusion/README.md, What stands between the steps?
// expect: data race between blocks
#include "../mistake.h"

__global__ void largest(int *out, int *part, unsigned *drawn, const int *in) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
#ifdef MISTAKE
    if (blockIdx.x != gridDim.x - 1) return;
#else
    if (atomicAdd(drawn, 1) != gridDim.x - 1) return;
#endif
    __threadfence();
    int best = 0;
    for (int b = 0; b < gridDim.x; b++) best = max(best, part[b]); // reported
    *out = best;
}

int main() {
    int *in = counting(4), *part = zeros(4), *out = zeros(1);
    unsigned *drawn = zeros<unsigned>(1);
    largest<<<4, 1>>>(out, part, drawn, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 3);
    return 0;
}
