// __ldg() reads what the same kernel writes; the read-only path is for data that nobody changes.
// lesson: chapters/01-restrict/README.md, Two ways to give the compiler the proof
// expect: read-only load of changed memory
#include "../mistake.h"

__global__ void twice(int *p) {
    int i = threadIdx.x;
    p[i] = i;
#ifdef MISTAKE
    p[i] += __ldg(p + i); // reported
#else
    p[i] += p[i];
#endif
}

int main() {
    int *p = zeros(32);
    twice<<<1, 32>>>(p);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(p, 3) == 6);
    return 0;
}
