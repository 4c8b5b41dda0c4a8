// The tail of 1 to 3 elements is loaded as a whole vector.
// lesson: chapters/02-coalescing/vector_loads.md, Hint 2
// expect: out-of-bounds
#include "../mistake.h"

__global__ void scale(float *out, const float *in, int n) {
    int i = 4 * threadIdx.x;
#ifndef MISTAKE
    if (i < n && i + 4 > n)
        for (; i < n; i++) out[i] = 2 * in[i];
#endif
    if (i >= n) return;
    float4 v = *reinterpret_cast<const float4 *>(in + i); // reported
    *reinterpret_cast<float4 *>(out + i) = {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};
}

int main() {
    float *in = counting<float>(101), *out = zeros<float>(101);
    scale<<<1, 32>>>(out, in, 101);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 100) == 200);
    return 0;
}
