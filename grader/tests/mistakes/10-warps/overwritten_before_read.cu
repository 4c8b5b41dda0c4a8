// A lane stores again where its partner may not have read yet.
// lesson: chapters/10-warps/quiz.md, 4. Find the error
// expect: data race in shared memory
#include "../mistake.h"

__global__ void exchange(int *out, const int *in) {
    __shared__ int s[32];
    int lane = threadIdx.x, v = in[lane];
    s[lane] = v;
    __syncwarp();
    v = s[lane ^ 1];
#ifndef MISTAKE
    __syncwarp();
#endif
    s[lane] = 2 * v; // reported
    __syncwarp();
    out[lane] = s[lane ^ 2];
}

int main() {
    int *in = counting(32), *out = zeros(32);
    exchange<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 6);
    return 0;
}
