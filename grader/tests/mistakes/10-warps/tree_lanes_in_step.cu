// The last rounds rely on the lanes of one warp running in step.
// lesson: chapters/10-warps/README.md, What the hardware does
// expect: data race in shared memory
#include "../mistake.h"

__global__ void sum(int *out, const int *in) {
    __shared__ int part[64];
    int t = threadIdx.x;
    part[t] = in[t] + in[t + 64];
    __syncthreads();
    if (t >= 32) return;
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d]; // reported
#ifndef MISTAKE
        __syncwarp();
#endif
    }
    if (t == 0) *out = part[0];
}

int main() {
    int *in = counting(128), *out = zeros(1);
    sum<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 127 * 64);
    return 0;
}
