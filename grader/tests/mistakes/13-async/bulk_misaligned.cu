// A bulk copy from an address that is not a multiple of 16.
// lesson: chapters/13-async/README.md, Bulk copies and mbarriers
// expect: misaligned
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
    wait(&bar, 0);
    out[threadIdx.x] = words[63 - threadIdx.x];
}

int main() {
    int *in = counting(80), *out = zeros(64);
#ifdef MISTAKE
    in += 1;
#else
    in += 4;
#endif
    bring<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 67);
    return 0;
}
