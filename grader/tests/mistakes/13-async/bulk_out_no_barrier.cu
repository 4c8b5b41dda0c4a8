// A bulk copy takes out what other threads may not have written yet.
// lesson: chapters/13-async/README.md, Bulk copies and mbarriers
// expect: data race in shared memory
#include "bulk.cuh"

__global__ void bring_out(int *out) {
    __shared__ alignas(128) int words[64];
    words[threadIdx.x] = threadIdx.x; // reported
    show();
#ifndef MISTAKE
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
        store(out, words, sizeof words);
        wait_read();
    }
}

int main() {
    int *out = zeros(64);
    bring_out<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 63) == 63);
    return 0;
}
