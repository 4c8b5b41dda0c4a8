// A bulk copy of a size that is not a multiple of 16 bytes.
// lesson: chapters/13-async/README.md, Bulk copies and mbarriers
// expect: size and addresses must be multiples of 16
#include "bulk.cuh"

__global__ void bring(int *out, const int *in, unsigned bytes) {
    __shared__ alignas(128) int words[64];
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, bytes);
        load(words, in, bytes, &bar);
    }
    wait(&bar, 0);
    if (threadIdx.x < bytes / 4) out[threadIdx.x] = words[threadIdx.x];
}

int main() {
    int *in = counting(64), *out = zeros(64);
#ifdef MISTAKE
    int words = 30;
#else
    int words = 32;
#endif
    bring<<<1, 64>>>(out, in, words * 4);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 5) == 5);
    return 0;
}
