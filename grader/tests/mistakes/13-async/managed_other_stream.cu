// The host waits for another stream than the one whose kernel writes its managed memory.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: in managed memory, which kernel
#include "../mistake.h"

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main() {
    int *p;
    cudaStream_t s[2];
    CHECK(cudaMallocManaged(&p, 128 * sizeof *p));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamCreate(&s[i]));
        fill<<<1, 64, 0, s[i]>>>(p + 64 * i, i + 1);
    }
    CHECK(cudaStreamSynchronize(s[0]));
    printf("%d\n", p[63]);
#ifndef MISTAKE
    CHECK(cudaStreamSynchronize(s[1]));
#endif
    printf("%d\n", p[64]); // reported
    CHECK(cudaDeviceSynchronize());
    return 0;
}
