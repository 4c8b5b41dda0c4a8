// Several blocks compute shares of one body's sum, and each stores its own as the result.
// lesson: chapters/12-sparse-and-stencil/nbody.md, Hint 3
// expect: data race between blocks
#include "../mistake.h"

__global__ void pull(int *out, const int *x) {
    int sum = 0;
    for (int j = 0; j < 32; j++) sum += x[32 * blockIdx.y + j] * threadIdx.x;
#ifdef MISTAKE
    out[threadIdx.x] = sum; // reported
#else
    atomicAdd(&out[threadIdx.x], sum);
#endif
}

int main() {
    int *x = counting(128), *out = zeros(32);
    pull<<<dim3(1, 4), 32>>>(out, x);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 1) == 127 * 64);
    return 0;
}
