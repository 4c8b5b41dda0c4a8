// Block 0 reads what block 1 held, which has ended: a GPU stops with a launch failure.
// nvcc: -std=c++17
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) start(int *out) {
    __shared__ int box;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) box = 7;
    c.sync();
    if (c.block_rank() == 0) out[threadIdx.x] = *c.map_shared_rank(&box, 1); // reported
}

int main() {
    int *out;
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(out, 0, 4096));
    start<<<2, 64>>>(out);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
