// Steps work in one buffer: a block writes a cell that others still read in this step.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: data race between blocks
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void steps(int *u, int *v) {
    int i = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 3; k++) {
        int *from = k % 2 ? v : u, *to = k % 2 ? u : v;
        to[i] = from[i] + from[(i + 1) % 64]; // reported
        cg::this_grid().sync();
    }
}

int main() {
    int *u = counting(64), *v = zeros(64);
#ifdef MISTAKE
    v = u;
#endif
    void *arguments[] = {&u, &v};
    CHECK(cudaLaunchCooperativeKernel((void *)steps, 2, 32, arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(v) == 12);
    return 0;
}
