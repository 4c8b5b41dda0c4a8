// cudaMemcpyToSymbol from device memory, without cudaMemcpyDeviceToDevice.
// lesson: chapters/08-constant-memory/README.md, What the hardware does
// expect: cudaMemcpyToSymbol
#include "../mistake.h"

__constant__ float taps[4];
__global__ void filter(float *out) { out[threadIdx.x] = taps[threadIdx.x]; }

int main() {
    float *weights = counting<float>(4), *out = zeros<float>(4);
#ifdef MISTAKE
    CHECK(cudaMemcpyToSymbol(taps, weights, sizeof taps)); // reported
#else
    CHECK(cudaMemcpyToSymbol(taps, weights, sizeof taps, 0, cudaMemcpyDeviceToDevice));
#endif
    filter<<<1, 4>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 3);
    return 0;
}
