// A cluster of sixteen blocks without cudaFuncAttributeNonPortableClusterSizeAllowed: eight is the most that every GPU takes.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: cudaErrorInvalidClusterSize
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void mark(int *out) { out[blockIdx.x] = 1; }

int main() {
    int *out = zeros(16);
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 16, cluster.val.clusterDim.y = 1, cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 16, config.blockDim = 32;
    config.attrs = &cluster, config.numAttrs = 1;
#ifndef MISTAKE
    CHECK(cudaFuncSetAttribute(mark, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
#endif
    CHECK(cudaLaunchKernelEx(&config, mark, out));
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 9) == 1);
    return 0;
}
