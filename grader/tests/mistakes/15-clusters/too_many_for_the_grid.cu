// A cooperative launch has more blocks than fit at one time.
// lesson: chapters/15-clusters/quiz.md, 5. Find the error: a barrier of the grid
// expect: cudaErrorCooperativeLaunchTooLarge
#include "../mistake.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void steps(int *u) {
    atomicAdd(u, 1);
    cg::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) u[1] = u[0];
}

int main() {
    int *u = zeros(2), an_sm, sms;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, steps, 1024, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
#ifdef MISTAKE
    int blocks = an_sm * sms + 1;
#else
    int blocks = an_sm * 2;
#endif
    void *arguments[] = {&u};
    CHECK(cudaLaunchCooperativeKernel((void *)steps, blocks, 1024, arguments, 0, 0)); // reported
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(u, 1) == blocks * 1024);
    return 0;
}
