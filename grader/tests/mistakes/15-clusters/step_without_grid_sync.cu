// A step reads what other blocks write in it, with a barrier of the block only.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: data race between blocks
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void steps(int *u, int *v) {
    int i = blockIdx.x * 32 + threadIdx.x;
    u[i] = i;
#ifdef MISTAKE
    __syncthreads();
#else
    cg::this_grid().sync();
#endif
    v[i] = u[63 - i]; // reported
}

int main() {
    int *u = zeros(64), *v = zeros(64);
    void *arguments[] = {&u, &v};
    CHECK(cudaLaunchCooperativeKernel((void *)steps, 2, 32, arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(v) == 63);
    return 0;
}
