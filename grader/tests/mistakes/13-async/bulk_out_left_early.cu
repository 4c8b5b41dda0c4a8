// The block ends while its bulk copy out may still read its shared memory.
// lesson: chapters/13-async/bulk_rows.md, Hint 2
// expect: missing wait
#include "bulk.cuh"

__global__ void bring_out(int *out) {
    __shared__ alignas(128) int words[32];
    words[threadIdx.x] = threadIdx.x;
    show();
    __syncwarp();
    if (threadIdx.x == 0) {
        store(out, words, sizeof words);
#ifndef MISTAKE
        wait_read();
#endif
    }
}

int main() {
    int *out = zeros(64);
    bring_out<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 31) == 31);
    return 0;
}
