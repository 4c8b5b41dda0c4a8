// All blocks wait for the last one, and more blocks are launched than fit: it never begins.
// lesson: chapters/11-scan-and-sort/README.md, By hand: look_back
// expect: deadlock
#include "../mistake.h"

__global__ void hand_on(int *out, volatile int *flag, int blocks) {
    int b = blockIdx.x;
#ifdef MISTAKE
    int other = b + 1 < blocks ? b + 1 : -1;
#else
    int other = b - 1;
#endif
    if (threadIdx.x == 0) {
        while (other >= 0 && !flag[other]) {} // reported
        flag[b] = 1;
        out[b] = 1;
    }
}

int main() {
    int blocks = 400, *out = zeros(blocks), *flag = zeros(blocks);
    hand_on<<<blocks, 1024>>>(out, flag, blocks);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 1);
    return 0;
}
