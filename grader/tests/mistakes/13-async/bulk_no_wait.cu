// A barrier of the block stands in place of the wait at the mbarrier.
// lesson: chapters/13-async/README.md, Bulk copies and mbarriers
// expect: missing wait
#include "bulk.cuh"

__global__ void bring(int *out, const int *in) {
    __shared__ alignas(128) int words[64];
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, sizeof words);
        load(words, in, sizeof words, &bar);
    }
#ifdef MISTAKE
    __syncthreads();
#else
    wait(&bar, 0);
#endif
    out[threadIdx.x] = words[63 - threadIdx.x]; // reported
}

int main() {
    int *in = counting(64), *out = zeros(64);
    bring<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 63);
    return 0;
}
