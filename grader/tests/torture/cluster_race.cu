// Each block reads from its neighbour what that one is about to change, and one writes into the other without order.
// nvcc: -std=c++17
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) start(int *out) {
    __shared__ int box[64];
    cg::cluster_group c = cg::this_cluster();
    box[threadIdx.x] = threadIdx.x;
    c.sync();
    int got = c.map_shared_rank(box, c.block_rank() ^ 1)[threadIdx.x];
    box[threadIdx.x] = got + 1; // reported
    c.sync();
    out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x];
}

int main() {
    int *out;
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(out, 0, 4096));
    start<<<2, 64>>>(out);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
