// The last block has threads beyond the array's end, and no condition keeps them away.
// lesson: chapters/00-roofline/README.md, Example: one element a thread, or several
// expect: out-of-bounds
#include "../mistake.h"

__global__ void cube(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef MISTAKE
    if (i < n)
#endif
    y[i] = x[i] * x[i] * x[i]; // reported
}

int main() {
    int n = 1000;
    float *x = counting<float>(n), *y = zeros<float>(n);
    cube<<<(n + 255) / 256, 256>>>(y, x, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(y, 9) == 729);
    return 0;
}
