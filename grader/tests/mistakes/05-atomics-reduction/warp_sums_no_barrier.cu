// The first warp adds up the warps' sums before all warps have stored theirs.
// lesson: chapters/05-atomics-reduction/sum_reduce.md, Hint 2
// expect: data race in shared memory
#include "../mistake.h"

__global__ void sum(int *out, const int *in) {
    __shared__ int part[8];
    int t = threadIdx.x, v = in[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0) part[t / 32] = v;
#ifndef MISTAKE
    __syncthreads();
#endif
    if (t == 0) {
        int total = 0;
        for (int w = 0; w < 8; w++) total += part[w]; // reported
        *out = total;
    }
}

int main() {
    int *in = counting(256), *out = zeros(1);
    sum<<<1, 256>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 255 * 128);
    return 0;
}
