// A float4 at an address that is not a multiple of 16.
// lesson: chapters/02-coalescing/vector_loads.md, Hint 1
// expect: misaligned
#include "../mistake.h"

__global__ void scale(float *out, const float *in, int start, int n) {
#ifdef MISTAKE
    int head = 0;
#else
    int head = (4 - start % 4) % 4;
    if (threadIdx.x < head) out[start + threadIdx.x] = 2 * in[start + threadIdx.x];
#endif
    int i = start + head + 4 * threadIdx.x;
    if (i + 4 > start + n) return;
    float4 v = *reinterpret_cast<const float4 *>(in + i); // reported
    *reinterpret_cast<float4 *>(out + i) = {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};
}

int main() {
    float *in = counting<float>(256), *out = zeros<float>(256);
    scale<<<1, 32>>>(out, in, 3, 5);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 7) == 14);
    return 0;
}
