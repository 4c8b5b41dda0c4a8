// More is copied than the constant array has room for.
// lesson: chapters/08-constant-memory/README.md, What the hardware does
// expect: cudaMemcpyToSymbol
#include "../mistake.h"

__constant__ float taps[4];
__global__ void filter(float *out) { out[threadIdx.x] = taps[threadIdx.x]; }

int main() {
    float host[8] = {1, 2, 3, 4}, *out = zeros<float>(4);
#ifdef MISTAKE
    CHECK(cudaMemcpyToSymbol(taps, host, sizeof host)); // reported
#else
    CHECK(cudaMemcpyToSymbol(taps, host, sizeof taps));
#endif
    filter<<<1, 4>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 4);
    return 0;
}
