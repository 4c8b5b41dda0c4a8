// A block without work returns before the grid's barrier, and the others wait for it.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: deadlock
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void steps(int *u, int *v, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
#ifdef MISTAKE
    if (i >= n) return;
#endif
    if (i < n) u[i] = i;
    cg::this_grid().sync(); // reported
    if (i < n) v[i] = u[n - 1 - i];
}

int main() {
    int n = 64, *u = zeros(128), *v = zeros(128);
    void *arguments[] = {&u, &v, &n};
    CHECK(cudaLaunchCooperativeKernel((void *)steps, 4, 32, arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(v) == 63);
    return 0;
}
