// Threads add up the sums of the warps before theirs before these are stored.
// lesson: chapters/11-scan-and-sort/inclusive_scan.md, Hint 2
// expect: data race in shared memory
#include "../mistake.h"

__global__ void scan(int *out, const int *in) {
    __shared__ int total[4];
    int t = threadIdx.x, lane = t % 32, sum = in[t];
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) total[t / 32] = sum; // reported
#ifndef MISTAKE
    __syncthreads();
#endif
    for (int w = 0; w < t / 32; w++) sum += total[w];
    out[t] = sum;
}

int main() {
    int *in = counting(128), *out = zeros(128);
    scan<<<1, 128>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 127) == 127 * 64);
    return 0;
}
