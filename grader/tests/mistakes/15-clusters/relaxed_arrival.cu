// A barrier whose arrival is relaxed promises nothing about what was written before it.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: data race in distributed shared memory
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) exchange(int *out) {
    __shared__ int y[32];
    cg::cluster_group cluster = cg::this_cluster();
    y[threadIdx.x] = 32 * blockIdx.x + threadIdx.x; // reported
#ifdef MISTAKE
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#else
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    out[32 * blockIdx.x + threadIdx.x] = cluster.map_shared_rank(y, 1 - cluster.block_rank())[threadIdx.x];
    cluster.sync();
}

int main() {
    int *out = zeros(64);
    exchange<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 32);
    return 0;
}
