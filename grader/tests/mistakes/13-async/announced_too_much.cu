// More bytes are announced than come, so the phase never ends.
// lesson: chapters/13-async/README.md, Bulk copies and mbarriers
// expect: never completes
#include "bulk.cuh"

__global__ void bring(int *out, const int *in, unsigned bytes) {
    __shared__ alignas(128) int words[64];
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
#ifdef MISTAKE
        expect(&bar, sizeof words);
#else
        expect(&bar, bytes);
#endif
        load(words, in, bytes, &bar);
    }
    wait(&bar, 0);
    if (threadIdx.x < bytes / 4) out[threadIdx.x] = words[threadIdx.x];
}

int main() {
    int *in = counting(64), *out = zeros(64);
    bring<<<1, 32>>>(out, in, 128);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 5) == 5);
    return 0;
}
