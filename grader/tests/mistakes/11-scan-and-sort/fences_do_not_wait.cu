// Each lane has fenced its own word, but lane 0 sets the flag without waiting for the others.
// lesson: chapters/11-scan-and-sort/README.md, Messages between blocks
// expect: no __syncwarp() between that and the store of the flag
#include "../mistake.h"

__global__ void send(int *out, int *words, volatile int *ready) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        words[t] = t * t;
        __threadfence();
#ifndef MISTAKE
        __syncwarp();
#endif
        if (t == 0) *ready = 1;
    } else {
        while (!*ready) {}
        __threadfence();
        out[t] = words[31 - t]; // reported
    }
}

int main() {
    int *out = zeros(32), *words = zeros(32), *ready = zeros(1);
    send<<<2, 32>>>(out, words, ready);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 0) == 31 * 31);
    return 0;
}
