// A round of the tree begins before all sums of the round before are stored.
// lesson: chapters/04-bank-conflicts/README.md, By hand: reduce_addressing
// expect: data race in shared memory
#include "../mistake.h"

__global__ void sum(int *out, const int *in) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d]; // reported
#ifndef MISTAKE
        __syncthreads();
#endif
    }
    if (t == 0) *out = part[0];
}

int main() {
    int *in = counting(256), *out = zeros(1);
    sum<<<1, 256>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 255 * 128);
    return 0;
}
