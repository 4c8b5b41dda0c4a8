// Nothing is copied into the constant array before the kernel runs.
// lesson: chapters/08-constant-memory/convolution.md, Hint 1
// missed: variables without an initializer hold zeros when a program starts, in constant memory too
#include "../mistake.h"

__constant__ float taps[4];
__global__ void filter(float *out, const float *in) {
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += taps[k] * in[threadIdx.x + k];
    out[threadIdx.x] = sum;
}

int main() {
    float *in = counting<float>(64), *out = zeros<float>(32), host[4] = {1, 2, 3, 4};
#ifndef MISTAKE
    CHECK(cudaMemcpyToSymbol(taps, host, sizeof host));
#endif
    filter<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    return host[0] != 1;
}
