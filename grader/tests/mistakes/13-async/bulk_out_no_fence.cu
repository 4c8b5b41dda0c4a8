// Threads write what a bulk copy takes out of shared memory, without fence.proxy.async.
// lesson: chapters/13-async/README.md, Bulk copies and mbarriers
// expect: missing fence
#include "bulk.cuh"

__global__ void bring_out(int *out) {
    __shared__ alignas(128) int words[64];
    words[threadIdx.x] = threadIdx.x; // reported
#ifndef MISTAKE
    show();
#endif
    __syncthreads();
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
