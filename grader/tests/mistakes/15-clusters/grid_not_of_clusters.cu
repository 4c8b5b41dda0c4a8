// The grid's size is not a multiple of the cluster's.
// lesson: chapters/15-clusters/README.md, What the hardware does
// expect: kernel launch failed
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4) mark(int *out) { out[blockIdx.x] = 1; }

int main() {
    int *out = zeros(16);
#ifdef MISTAKE
    int blocks = 10;
#else
    int blocks = 12;
#endif
    mark<<<blocks, 32>>>(out); // reported
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 9) == 1);
    return 0;
}
