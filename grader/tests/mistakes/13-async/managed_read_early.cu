// The host reads managed memory that a kernel may still write.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: in managed memory, which kernel
#include "../mistake.h"

__global__ void work(int *p) { p[threadIdx.x] += 1; }

int main() {
    int *p;
    CHECK(cudaMallocManaged(&p, 2048 * sizeof *p));
    for (int i = 0; i < 2048; i++) p[i] = i;
    work<<<1, 64>>>(p);
#ifndef MISTAKE
    CHECK(cudaDeviceSynchronize());
#endif
    printf("%d\n", p[9]); // reported
    CHECK(cudaDeviceSynchronize());
    return 0;
}
