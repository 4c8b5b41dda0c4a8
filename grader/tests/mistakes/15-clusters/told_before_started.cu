// A block writes into another one that has not said that it has started.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: distributed shared memory lifetime
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) tell(int *out) {
    __shared__ int box;
    cg::cluster_group cluster = cg::this_cluster();
#ifndef MISTAKE
    auto started = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(started));
#endif
    if (threadIdx.x == 0) *cluster.map_shared_rank(&box, 1 - cluster.block_rank()) = blockIdx.x; // reported
    cluster.sync();
    out[32 * blockIdx.x + threadIdx.x] = box;
}

int main() {
    int *out = zeros(64);
    tell<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 1);
    return 0;
}
