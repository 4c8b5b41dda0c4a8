// A block asks for the memory of a rank that the cluster does not have.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: cluster
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) differences(int *out) {
    __shared__ int y;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) y = blockIdx.x;
    cluster.sync();
#ifdef MISTAKE
    int rank = cluster.block_rank() + 1;
#else
    int rank = (cluster.block_rank() + 1) % 2;
#endif
    out[32 * blockIdx.x + threadIdx.x] = *cluster.map_shared_rank(&y, rank); // reported
    cluster.sync();
}

int main() {
    int *out = zeros(64);
    differences<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 1);
    return 0;
}
