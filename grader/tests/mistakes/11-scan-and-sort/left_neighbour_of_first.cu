// The first element's left neighbour is looked at, which lies before the array.
// lesson: chapters/11-scan-and-sort/run_length.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"

__global__ void begins(int *out, const int *in) {
    int i = threadIdx.x;
#ifdef MISTAKE
    out[i] = in[i] != in[i - 1]; // reported
#else
    out[i] = !i || in[i] != in[i - 1];
#endif
}

int main() {
    int *in = counting(64), *out = zeros(64);
    begins<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 1);
    return 0;
}
