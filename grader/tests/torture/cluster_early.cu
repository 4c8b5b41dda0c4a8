// Block 1 writes into block 0 before the blocks have met: that one may not have started.
// nvcc: -std=c++17
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) start(int *out) {
    __shared__ int box[64];
    cg::cluster_group c = cg::this_cluster();
    if (c.block_rank() == 1) c.map_shared_rank(box, 0)[threadIdx.x] = threadIdx.x; // reported
    c.sync();
    if (c.block_rank() == 0) out[threadIdx.x] = box[threadIdx.x];
}

int main() {
    int *out;
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(out, 0, 4096));
    start<<<2, 64>>>(out);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
