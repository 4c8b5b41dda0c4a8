// Shared memory is written again while a bulk copy out may still read it.
// lesson: chapters/13-async/bulk_rows.md, Hint 2
// expect: missing wait
#include "bulk.cuh"

__global__ void bring_out(int *out) {
    __shared__ alignas(128) int words[32];
    for (int i = 0; i < 2; i++) {
        words[threadIdx.x] = 32 * i + threadIdx.x;
        show();
        __syncwarp();
        if (threadIdx.x == 0) {
            store(out + 32 * i, words, sizeof words);
#ifndef MISTAKE
            wait_read();
#endif
        }
        __syncwarp();
    }
    if (threadIdx.x == 0) wait_read();
}

int main() {
    int *out = zeros(64);
    bring_out<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 63) == 63);
    return 0;
}
