// The mbarrier waits for 32 arrivals, and one thread arrives.
// lesson: chapters/13-async/README.md, Bulk copies and mbarriers
// expect: never completes
#include "bulk.cuh"

__global__ void bring(int *out, const int *in) {
    __shared__ alignas(128) int words[64];
    __shared__ unsigned long long bar;
#ifdef MISTAKE
    if (threadIdx.x == 0) init(&bar, 32);
#else
    if (threadIdx.x == 0) init(&bar, 1);
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, sizeof words);
        load(words, in, sizeof words, &bar);
    }
    wait(&bar, 0);
    out[threadIdx.x] = words[63 - threadIdx.x];
}

int main() {
    int *in = counting(64), *out = zeros(64);
    bring<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 63);
    return 0;
}
