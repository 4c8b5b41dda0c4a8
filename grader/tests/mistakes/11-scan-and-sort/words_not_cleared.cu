// Nobody clears the words by which blocks tell each other their sums.
// lesson: chapters/11-scan-and-sort/look_back.md, Hint 2
// expect: uninitialized
#include "../mistake.h"

__global__ void hand_on(int *out, volatile unsigned long long *word) {
    int b = blockIdx.x;
    unsigned long long there = 0;
    if (b)
        do there = word[b - 1]; // reported
        while (!there);
    word[b] = 1ull << 32 | ((unsigned)there + b);
    out[b] = (int)there;
}

int main() {
    int *out = zeros(4);
    unsigned long long *word;
    CHECK(cudaMalloc(&word, 4 * sizeof *word));
#ifndef MISTAKE
    CHECK(cudaMemset(word, 0, 4 * sizeof *word));
#endif
    hand_on<<<4, 1>>>(out, word);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 3);
    return 0;
}
