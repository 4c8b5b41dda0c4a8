// A block reads the next block's memory before that one has written it, or has even started.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: distributed shared memory lifetime
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) differences(int *out) {
    __shared__ int y[32];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    y[t] = 32 * blockIdx.x + t;
#ifndef MISTAKE
    cluster.sync();
#endif
    int *next = cluster.map_shared_rank(y, 1 - cluster.block_rank());
    out[32 * blockIdx.x + t] = y[t] - next[31 - t]; // reported
    cluster.sync();
}

int main() {
    int *out = zeros(64);
    differences<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == -63);
    return 0;
}
