// The second piece is waited for by the first phase's parity, which has ended long ago.
// lesson: chapters/13-async/README.md, Bulk copies and mbarriers
// expect: missing wait
#include "bulk.cuh"

__global__ void bring(int *out, const int *in) {
    __shared__ alignas(128) int words[64];
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x == 0) {
            expect(&bar, sizeof words);
            load(words, in + 64 * i, sizeof words, &bar);
        }
#ifdef MISTAKE
        wait(&bar, 0);
#else
        wait(&bar, i % 2);
#endif
        out[64 * i + threadIdx.x] = words[63 - threadIdx.x]; // reported
        __syncthreads();
    }
}

int main() {
    int *in = counting(128), *out = zeros(128);
    bring<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 64) == 127);
    return 0;
}
