// A block reads what the others tell it before all have told it.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: data race in distributed shared memory
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) tell(int *out) {
    __shared__ int box;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) box = -1;
    cluster.sync();
    if (threadIdx.x == 0) *cluster.map_shared_rank(&box, 1 - cluster.block_rank()) = blockIdx.x; // reported
#ifdef MISTAKE
    int got = box;
    cluster.sync();
#else
    cluster.sync();
    int got = box;
#endif
    out[32 * blockIdx.x + threadIdx.x] = got;
}

int main() {
    int *out = zeros(64);
    tell<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 1);
    return 0;
}
