// A grid-stride loop whose condition counts rounds, not elements: the last round passes the end.
// lesson: chapters/00-roofline/vector_add.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"

__global__ void add(float *out, const float *a, const float *b, int n) {
    int threads = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MISTAKE
    int end = first + (n + threads - 1) / threads * threads;
#else
    int end = n;
#endif
    for (int i = first; i < end; i += threads) out[i] = a[i] + b[i]; // reported
}

int main() {
    int n = 1000;
    float *a = counting<float>(n), *out = zeros<float>(n);
    add<<<2, 128>>>(out, a, a, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 999) == 1998);
    return 0;
}
