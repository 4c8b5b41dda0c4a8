// A round of the scan begins before all results of the round before are stored.
// lesson: chapters/11-scan-and-sort/README.md, What a scan is
// expect: data race in shared memory
#include "../mistake.h"

__global__ void scan(int *out, const int *in) {
    __shared__ int sum[2][128];
    int t = threadIdx.x, from = 0;
    sum[0][t] = in[t];
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2, from ^= 1) {
        sum[from ^ 1][t] = sum[from][t] + (t < distance ? 0 : sum[from][t - distance]); // reported
#ifndef MISTAKE
        __syncthreads();
#endif
    }
    out[t] = sum[from][t];
}

int main() {
    int *in = counting(128), *out = zeros(128);
    scan<<<1, 128>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 127) == 127 * 64);
    return 0;
}
