// Half of block 1 waits for its block while all others wait for the cluster: nobody gets further.
// nvcc: -std=c++17
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) start(int *out) {
    cg::cluster_group c = cg::this_cluster();
    if (c.block_rank() == 1 && threadIdx.x >= 32) __syncthreads();
    c.sync(); // reported
    out[threadIdx.x] = 1;
}

int main() {
    int *out;
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(out, 0, 4096));
    start<<<2, 64>>>(out);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
