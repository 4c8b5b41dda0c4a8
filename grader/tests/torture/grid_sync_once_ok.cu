// Two steps of a cooperative grid that need two barriers of it.
#include "../programs/check.h"
#include <cooperative_groups.h>

__global__ void steps(int *p) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    p[t] = t;
    grid.sync();
    p[256 + t] = p[255 - t];
    grid.sync();
    p[t] = p[256 + (t ^ 128)] + 1;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 2048));
    CHECK(cudaMemset(p, 0, 2048));
    void *args[] = {&p};
    CHECK(cudaLaunchCooperativeKernel((void *)steps, 4, 64, args, 0, 0));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
