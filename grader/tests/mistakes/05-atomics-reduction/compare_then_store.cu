// A maximum by a comparison and a plain store: a larger value is overwritten.
// lesson: chapters/05-atomics-reduction/max_reduce.md, max_reduce: the largest element, and the maximum of nothing
// expect: data race
#include "../mistake.h"

__global__ void largest(int *out, const int *in) {
    int v = in[threadIdx.x];
#ifdef MISTAKE
    if (v > *out) *out = v; // reported
#else
    atomicMax(out, v);
#endif
}

int main() {
    int *in = counting(64), *out = zeros(1);
    largest<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 63);
    return 0;
}
