// The word that a block waits for is not volatile: it is loaded once, before the loop.
// lesson: chapters/11-scan-and-sort/README.md, By hand: look_back
// expect: data race between blocks
#include "../mistake.h"

#ifdef MISTAKE
using word_t = unsigned long long;
#else
using word_t = volatile unsigned long long;
#endif
__global__ void hand_on(int *out, word_t *word) {
    int b = blockIdx.x;
    unsigned long long there = 0;
    word[b] = 1ull << 32 | b * 10; // reported
    if (b)
        do there = word[b - 1];
        while (!there);
    out[b] = (int)there;
}

int main() {
    int *out = zeros(4);
    auto *word = zeros<unsigned long long>(4);
    hand_on<<<4, 1>>>(out, word);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 20);
    return 0;
}
