// The mask of __syncwarp() names half of the lanes that exchange values.
// lesson: chapters/10-warps/README.md, The counters to watch
// expect: data race in shared memory
#include "../mistake.h"

#ifdef MISTAKE
constexpr int GROUP = 8;
#else
constexpr int GROUP = 16;
#endif
__global__ void exchange(int *out, const int *in) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = in[lane];
    __syncwarp(((1u << GROUP) - 1) << lane / GROUP * GROUP);
    out[lane] = s[lane ^ 8]; // reported
}

int main() {
    int *in = counting(32), *out = zeros(32);
    exchange<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 8);
    return 0;
}
