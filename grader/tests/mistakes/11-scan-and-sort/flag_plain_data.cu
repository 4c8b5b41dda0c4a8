// The flag is volatile and fenced by the reader, but the writer has no fence behind its plain data.
// lesson: chapters/11-scan-and-sort/README.md, By hand: look_back
// expect: data race
#include "../mistake.h"

__global__ void hand_on(int *out, int *number, volatile int *flag) {
    int b = blockIdx.x, before = 0;
    if (b) {
        while (!flag[b - 1]) {}
        __threadfence();
        before = number[b - 1]; // reported
    }
    number[b] = before + b;
#ifndef MISTAKE
    __threadfence();
#endif
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
