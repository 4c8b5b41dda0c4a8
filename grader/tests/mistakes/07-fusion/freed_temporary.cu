// The temporary between two kernels is freed before the second one is launched.
// lesson: chapters/07-fusion/scale_add.md, Hint 3
// expect: use-after-free
#include "../mistake.h"

__global__ void scale(float *to, const float *x) { to[threadIdx.x] = 2 * x[threadIdx.x]; }
__global__ void add(float *out, const float *t) { out[threadIdx.x] += t[threadIdx.x]; } // reported

int main() {
    float *x = counting<float>(64), *out = zeros<float>(64), *t = zeros<float>(64);
    scale<<<1, 64>>>(t, x);
#ifdef MISTAKE
    CHECK(cudaFree(t));
#endif
    add<<<1, 64>>>(out, t);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 9) == 18);
    return 0;
}
