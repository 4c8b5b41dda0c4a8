// Threads beyond the last key scatter one, too.
// lesson: chapters/11-scan-and-sort/radix_pass.md, Hint 2
// expect: out-of-bounds
#include "../mistake.h"

__global__ void scatter(int *out, const int *keys, int *next, int n) {
    int i = threadIdx.x, key = i < n ? keys[i] : 0;
#ifndef MISTAKE
    if (i >= n) return;
#endif
    out[atomicAdd(&next[key % 2], 1)] = key; // reported
}

int main() {
    int host[] = {0, 20}, *keys = counting(40), *out = zeros(40), *next = zeros(2);
    CHECK(cudaMemcpy(next, host, sizeof host, cudaMemcpyHostToDevice));
    scatter<<<1, 64>>>(out, keys, next, 40);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(next) == 20);
    return 0;
}
