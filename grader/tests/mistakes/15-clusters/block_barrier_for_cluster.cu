// A barrier of the block stands in place of the cluster's.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: data race in distributed shared memory
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) exchange(int *out) {
    __shared__ int mine[2];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    if (threadIdx.x == 0) *cluster.map_shared_rank(&mine[0], 1 - cluster.block_rank()) = blockIdx.x; // reported
#ifdef MISTAKE
    __syncthreads();
#else
    cluster.sync();
#endif
    out[32 * blockIdx.x + threadIdx.x] = mine[0];
    cluster.sync();
}

int main() {
    int *out = zeros(64);
    exchange<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 1);
    return 0;
}
