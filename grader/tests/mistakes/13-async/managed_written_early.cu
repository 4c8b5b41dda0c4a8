// The host prepares the next step in managed memory that a kernel may still read.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: in managed memory, which kernel
#include "../mistake.h"

__global__ void scale(int *out, const int *in) { out[threadIdx.x] = 3 * in[threadIdx.x]; }

int main() {
    int *in, *out = zeros(64);
    CHECK(cudaMallocManaged(&in, 64 * sizeof *in));
    for (int i = 0; i < 64; i++) in[i] = i;
    scale<<<1, 64>>>(out, in);
#ifndef MISTAKE
    CHECK(cudaDeviceSynchronize());
#endif
    in[5] = 100; // reported
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 5) == 15);
    return 0;
}
