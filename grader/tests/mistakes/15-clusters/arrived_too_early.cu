// A block arrives at the grid's barrier before it has written what the others wait for.
// lesson: chapters/15-clusters/spikes.md, Hint 3
// expect: data race between blocks
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void steps(int *u, int *v) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * 32 + threadIdx.x;
#ifdef MISTAKE
    auto token = grid.barrier_arrive();
    u[i] = i; // reported
#else
    u[i] = i;
    auto token = grid.barrier_arrive();
#endif
    grid.barrier_wait(std::move(token));
    v[i] = u[63 - i];
}

int main() {
    int *u = zeros(64), *v = zeros(64);
    void *arguments[] = {&u, &v};
    CHECK(cudaLaunchCooperativeKernel((void *)steps, 2, 32, arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(v) == 63);
    return 0;
}
