// Comes to the barrier again without having waited.
// nvcc: -std=c++17
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) start(int *out) {
    asm volatile("barrier.cluster.arrive.aligned;");
    if (blockIdx.x == 1) asm volatile("barrier.cluster.arrive.aligned;"); // reported
    asm volatile("barrier.cluster.wait.aligned;");
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
