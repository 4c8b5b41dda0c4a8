// The host reads a __managed__ variable that a kernel may still count in.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: in managed memory, which kernel
#include "../mistake.h"

__managed__ int multiples;

__global__ void count(const int *in) {
    if (in[threadIdx.x] % 4 == 0) atomicAdd(&multiples, 1);
}

int main() {
    int *in = counting(64);
    count<<<1, 64>>>(in);
#ifndef MISTAKE
    CHECK(cudaDeviceSynchronize());
#endif
    printf("%d\n", multiples); // reported
    CHECK(cudaDeviceSynchronize());
    return 0;
}
