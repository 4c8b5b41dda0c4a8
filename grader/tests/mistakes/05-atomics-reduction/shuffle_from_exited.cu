// Lanes without an element return, and others take their values.
// lesson: chapters/05-atomics-reduction/README.md, Shuffles and votes
// expect: undefined
#include "../mistake.h"

__global__ void sum(int *out, const int *in, int n) {
    int i = threadIdx.x;
#ifdef MISTAKE
    if (i >= n) return;
    int v = in[i];
#else
    int v = i < n ? in[i] : 0;
#endif
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (i == 0) *out = v;
}

int main() {
    int *in = counting(32), *out = zeros(1);
    sum<<<1, 32>>>(out, in, 20);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 190);
    return 0;
}
