// Results are copied back from a kernel that was never launched; its memory was never written.
// lesson: chapters/00-roofline/vector_add.md, vector_add: a kernel and a launch from nothing
// expect: kernel launch failed: cudaErrorInvalidConfiguration
#include "../mistake.h"

__global__ void add(float *out, const float *a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + a[i];
}

int main() {
    int n = 100, blocks = n / 128; // none
#ifndef MISTAKE
    blocks++;
#endif
    float *a = counting<float>(n), *out = zeros<float>(n);
    add<<<blocks, 128>>>(out, a, n); // reported
    EXPECT(element(out, 99) == 198);
    return 0;
}
