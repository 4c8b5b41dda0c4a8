// Only the first warp comes to the cluster's barrier, and the others go on to another one.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: barrier
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) exchange(int *out) {
    __shared__ int y;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) y = blockIdx.x;
#ifdef MISTAKE
    if (threadIdx.x < 32) cluster.sync();
    __syncthreads();
#else
    cluster.sync();
#endif
    if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&y, 1 - cluster.block_rank());
    cluster.sync();
}

int main() {
    int *out = zeros(2);
    exchange<<<2, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 1);
    return 0;
}
