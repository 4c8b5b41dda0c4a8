// Sums of each round are told into one place, which a slower block may not have read yet.
// lesson: chapters/15-clusters/threshold.md, Hint 2
// expect: data race in distributed shared memory
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#ifdef MISTAKE
constexpr int PLACES = 1;
#else
constexpr int PLACES = 2;
#endif
__global__ void __cluster_dims__(2) rounds(int *out) {
    __shared__ int box[PLACES];
    cg::cluster_group cluster = cg::this_cluster();
    int mine = blockIdx.x + 1;
    cluster.sync();
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x == 0) *cluster.map_shared_rank(&box[k % PLACES], 1 - cluster.block_rank()) = mine; // reported
        cluster.sync();
        mine += box[k % PLACES];
    }
    out[32 * blockIdx.x + threadIdx.x] = mine;
}

int main() {
    int *out = zeros(64);
    rounds<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 24);
    return 0;
}
