// The next piece is stored into the buffer that is still multiplied.
// lesson: chapters/09-capstone/sgemm.md, Hint 2
// expect: data race in shared memory
#include "../mistake.h"

__global__ void sums(int *out, const int *x, int n) {
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    tile[0][t] = x[t];
    __syncthreads();
    for (int first = 0, turn = 0; first < n; first += 64) {
        int next = first + 64 < n ? x[first + 64 + t] : 0;
        for (int j = 0; j < 64; j++) sum += tile[turn][j]; // reported
#ifndef MISTAKE
        turn ^= 1;
#endif
        tile[turn][t] = next;
        __syncthreads();
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
