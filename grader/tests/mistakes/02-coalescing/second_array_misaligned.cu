// Arrays share one allocation, and the second begins where the first ends: not at a multiple of 16 bytes.
// lesson: chapters/02-coalescing/particles.md, Hint 3
// expect: misaligned
#include "../mistake.h"

__global__ void add(float4 *x, const float4 *y) {
    float4 v = y[threadIdx.x]; // reported
    x[threadIdx.x].x += v.x + v.y + v.z + v.w;
}

int main() {
    int n = 5 * 4 + 1;
#ifndef MISTAKE
    n = (n + 3) / 4 * 4;
#endif
    float *both = counting<float>(2 * n);
    add<<<1, 5>>>((float4 *)both, (float4 *)(both + n));
    CHECK(cudaDeviceSynchronize());
    return 0;
}
