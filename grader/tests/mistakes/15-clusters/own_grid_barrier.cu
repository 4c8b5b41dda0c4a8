// Blocks of an ordinary launch wait for all others at a counter of their own, and more are launched than fit.
// lesson: chapters/15-clusters/quiz.md, 5. Find the error: a barrier of the grid
// expect: deadlock
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void steps(int *out, volatile unsigned *arrived, unsigned blocks) {
    if (threadIdx.x == 0) {
        atomicAdd((unsigned *)arrived, 1);
        while (*arrived < blocks) {} // reported
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

int main() {
#ifdef MISTAKE
    unsigned blocks = 400;
#else
    unsigned blocks = 64;
#endif
    int *out = zeros(400);
    auto *arrived = zeros<unsigned>(1);
    steps<<<blocks, 1024>>>(out, arrived, blocks);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 9) == 1);
    return 0;
}
