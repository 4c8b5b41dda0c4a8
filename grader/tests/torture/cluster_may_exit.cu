// Block 1 reads what block 0 holds, which does not wait for it: on a GPU it may have ended.
// nvcc: -std=c++17
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) start(int *out) {
    __shared__ int box;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) box = 7;
    c.sync();
    if (c.block_rank() == 1) out[threadIdx.x] = *c.map_shared_rank(&box, 0); // reported
}

int main() {
    int *out;
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(out, 0, 4096));
    start<<<2, 64>>>(out);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
