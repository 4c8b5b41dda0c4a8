// Constant memory is copied to in one stream and read by a kernel in another.
// lesson: chapters/08-constant-memory/convolution.md, Hint 1
// expect: stream race
#include "../mistake.h"

__constant__ float taps[4];
__global__ void filter(float *out) { out[threadIdx.x] = taps[threadIdx.x]; } // reported

int main() {
    float *weights = counting<float>(4), *out = zeros<float>(4);
    cudaStream_t one, two;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaMemcpyToSymbolAsync(taps, weights, sizeof taps, 0, cudaMemcpyDeviceToDevice, one));
#ifdef MISTAKE
    filter<<<1, 4, 0, two>>>(out);
#else
    filter<<<1, 4, 0, one>>>(out);
#endif
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 3);
    return 0;
}
