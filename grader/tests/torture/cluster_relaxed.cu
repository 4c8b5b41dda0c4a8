// .relaxed orders nothing without a fence.
// nvcc: -std=c++17
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) start(int *out) {
    __shared__ int box[64];
    cg::cluster_group c = cg::this_cluster();
    c.sync();
    c.map_shared_rank(box, c.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x]; // reported
    c.sync();
}

int main() {
    int *out;
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(out, 0, 4096));
    start<<<2, 64>>>(out);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
