// grid.sync() in a launch that is not cooperative.
// lesson: chapters/15-clusters/quiz.md, 5. Find the error: a barrier of the grid
// expect: trap
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void steps(int *u, int *v) {
    int i = blockIdx.x * 32 + threadIdx.x;
    u[i] = i;
    cg::this_grid().sync(); // reported
    v[i] = u[63 - i];
}

int main() {
    int *u = zeros(64), *v = zeros(64);
#ifdef MISTAKE
    steps<<<2, 32>>>(u, v);
#else
    void *arguments[] = {&u, &v};
    CHECK(cudaLaunchCooperativeKernel((void *)steps, 2, 32, arguments, 0, 0));
#endif
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(v) == 63);
    return 0;
}
