// Parts in different streams share an element at their border.
// lesson: chapters/13-async/overlap.md, Hint 3
// expect: stream race
#include "../mistake.h"

__global__ void work(int *p, int n) {
    if (threadIdx.x < n) p[threadIdx.x] += 1; // reported
}

int main() {
    int *dev = counting(128);
    cudaStream_t stream[2];
    for (cudaStream_t &s : stream) CHECK(cudaStreamCreate(&s));
    for (int part = 0; part < 2; part++) {
#ifdef MISTAKE
        int n = part ? 64 : 65;
#else
        int n = 64;
#endif
        work<<<1, 96, 0, stream[part]>>>(dev + 64 * part, n);
    }
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(dev, 64) == 65);
    return 0;
}
