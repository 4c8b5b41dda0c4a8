// A shuffle hands over registers, but orders no accesses to memory.
// lesson: chapters/10-warps/README.md, What the hardware does
// expect: data race in shared memory
#include "../mistake.h"

__global__ void exchange(int *out, const int *in) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = in[lane];
    int from = __shfl_xor_sync(0xffffffffu, lane, 1);
#ifndef MISTAKE
    __syncwarp();
#endif
    out[lane] = s[from]; // reported
}

int main() {
    int *in = counting(32), *out = zeros(32);
    exchange<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 1);
    return 0;
}
