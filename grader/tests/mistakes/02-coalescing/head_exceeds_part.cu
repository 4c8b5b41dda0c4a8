// The head of 3 elements is longer than a part of 2.
// lesson: chapters/02-coalescing/vector_loads.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"

__global__ void scale(float *out, const float *in, int start, int n) {
    int head = (4 - start % 4) % 4;
#ifndef MISTAKE
    head = min(head, n);
#endif
    if (threadIdx.x < head) out[start + threadIdx.x] = 2 * in[start + threadIdx.x]; // reported
}

int main() {
    float *in = counting<float>(3), *out = zeros<float>(3);
    scale<<<1, 32>>>(out, in, 1, 2);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 2) == 4);
    return 0;
}
