// A block ends while others still read its shared memory.
// lesson: chapters/15-clusters/quiz.md, 4. Find the error: who ends first
// expect: distributed shared memory
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) total(int *out) {
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = blockIdx.x + 1;
    cluster.sync();
    int sum = 0;
    for (int r = 0; r < 2; r++) sum += *cluster.map_shared_rank(&mine, r); // reported
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
#ifndef MISTAKE
    cluster.sync();
#endif
}

int main() {
    int *out = zeros(2);
    total<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 1) == 3);
    return 0;
}
