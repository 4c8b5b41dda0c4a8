// A reduction of the whole warp in a loop that lanes leave after different numbers of turns.
// lesson: chapters/12-sparse-and-stencil/README.md, Lists of uneven length
// expect: invalid member mask
#include "../mistake.h"

__global__ void best(int *out, const int *in, int n) {
    int most = 0, other = 0;
#ifdef MISTAKE
    for (int i = threadIdx.x; i < n; i += 32) most = max(most, (int)__reduce_max_sync(0xffffffffu, in[i])); // reported
#else
    for (int i = threadIdx.x; i < n; i += 32) most = max(most, in[i]);
    most = __reduce_max_sync(0xffffffffu, most);
#endif
    out[threadIdx.x] = most + other;
}

int main() {
    int *in = counting(50), *out = zeros(32);
    best<<<1, 32>>>(out, in, 50);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 31) == 49);
    return 0;
}
