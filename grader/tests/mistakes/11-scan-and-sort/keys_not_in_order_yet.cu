// Keys leave from shared memory before all are there in the order of their digits.
// lesson: chapters/11-scan-and-sort/radix_pass.md, Hint 2
// expect: data race in shared memory
#include "../mistake.h"

__global__ void pass(int *out, const int *in) {
    __shared__ int sorted[64], count[2];
    int t = threadIdx.x, key = in[t], digit = key & 1;
    unsigned odd = __ballot_sync(0xffffffffu, digit);
    if (t % 32 == 0) count[t / 32] = 32 - __popc(odd);
    __syncthreads();
    unsigned mine = digit ? odd : ~odd;
    int zeros_in_all = count[0] + count[1], before = t < 32 ? 0 : digit ? 32 - count[0] : count[0];
    sorted[(digit ? zeros_in_all : 0) + before + __popc(mine & ((1u << t % 32) - 1))] = key; // reported
#ifndef MISTAKE
    __syncthreads();
#endif
    out[t] = sorted[t];
}

int main() {
    int *in = counting(64), *out = zeros(64);
    pass<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 63) == 63);
    return 0;
}
