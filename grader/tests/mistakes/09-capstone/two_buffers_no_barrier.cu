// Two buffers in turn, and no barrier between storing a piece and using it.
// lesson: chapters/09-capstone/README.md, Before and after
// expect: data race in shared memory
#include "../mistake.h"

__global__ void sums(int *out, const int *x, int n) {
    __shared__ int tile[2][64];
    int t = threadIdx.x, next = x[t], sum = 0;
    for (int first = 0, turn = 0; first < n; first += 64, turn ^= 1) {
        tile[turn][t] = next;
#ifndef MISTAKE
        __syncthreads();
#endif
        if (first + 64 < n) next = x[first + 64 + t];
        for (int j = 0; j < 64; j++) sum += tile[turn][j]; // reported
    }
    out[t] = sum;
}

int main() {
    int *x = counting(256), *out = zeros(64);
    sums<<<1, 64>>>(out, x, 256);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 255 * 128);
    return 0;
}
