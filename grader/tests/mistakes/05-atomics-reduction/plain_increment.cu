// Threads add to one word without an atomic, and additions are lost.
// lesson: chapters/05-atomics-reduction/README.md, What an atomic does
// expect: data race
#include "../mistake.h"

__global__ void count(int *total, const int *in) {
    if (in[threadIdx.x] % 2 == 0)
#ifdef MISTAKE
        *total += 1; // reported
#else
        atomicAdd(total, 1);
#endif
}

int main() {
    int *in = counting(128), *total = zeros(1);
    count<<<1, 128>>>(total, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(total) == 64);
    return 0;
}
