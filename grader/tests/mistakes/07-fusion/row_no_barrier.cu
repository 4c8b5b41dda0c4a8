// A fused kernel uses the row's maximum before all threads have contributed to it.
// lesson: chapters/07-fusion/softmax.md, Hint 1
// expect: data race in shared memory
#include "../mistake.h"

__global__ void softmax(float *out, const float *in) {
    __shared__ float part[2];
    int t = threadIdx.x;
    float x = in[t], m = x;
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    if (t % 32 == 0) part[t / 32] = m;
#ifndef MISTAKE
    __syncthreads();
#endif
    out[t] = expf(x - fmaxf(part[0], part[1])); // reported
}

int main() {
    float *in = counting<float>(64), *out = zeros<float>(64);
    softmax<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 63) == 1);
    return 0;
}
