// A kernel reads behind its constant array.
// lesson: chapters/08-constant-memory/convolution.md, Hint 1
// expect: out-of-bounds
#include "../mistake.h"

__constant__ float taps[4];
__global__ void filter(float *out, int n) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += taps[k]; // reported
    out[threadIdx.x] = sum;
}

int main() {
    float host[4] = {1, 2, 3, 4}, *out = zeros<float>(4);
    CHECK(cudaMemcpyToSymbol(taps, host, sizeof host));
#ifdef MISTAKE
    filter<<<1, 4>>>(out, 9);
#else
    filter<<<1, 4>>>(out, 4);
#endif
    CHECK(cudaDeviceSynchronize());
    return 0;
}
