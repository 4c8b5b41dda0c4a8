// Number and flag are two words, without a fence between the two loads.
// lesson: chapters/11-scan-and-sort/README.md, By hand: look_back
// expect: missing fence
#include "../mistake.h"

__global__ void hand_on(int *out, volatile int *number, volatile int *flag) {
    int b = blockIdx.x, before = 0;
    if (b) {
        while (!flag[b - 1]) {}
#ifndef MISTAKE
        __threadfence();
#endif
        before = number[b - 1]; // reported
    }
    number[b] = before + b;
    __threadfence();
    flag[b] = 1;
    out[b] = before;
}

int main() {
    int *out = zeros(4), *number = zeros(4), *flag = zeros(4);
    hand_on<<<4, 1>>>(out, number, flag);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 3);
    return 0;
}
