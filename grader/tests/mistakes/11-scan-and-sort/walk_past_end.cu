// A lane walks to the end of its run, and at the last run past the end of the array.
// lesson: chapters/11-scan-and-sort/run_length.md, run_length: runs, and how long they are
// expect: out-of-bounds
#include "../mistake.h"

__global__ void lengths(int *out, const int *in, int n) {
    int i = threadIdx.x, end = i + 1;
#ifdef MISTAKE
    while (in[end] == in[i]) end++; // reported
#else
    while (end < n && in[end] == in[i]) end++;
#endif
    out[i] = end - i;
}

int main() {
    int *in = zeros(64), *out = zeros(64);
    lengths<<<1, 64>>>(out, in, 64);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 60) == 4);
    return 0;
}
