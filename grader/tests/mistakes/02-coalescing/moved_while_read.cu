// One kernel for a step moves a particle while neighbours still read where it was.
// lesson: solutions/02-coalescing/particles-ladder.md, particles.cu (model solution)
// expect: data race
#include "../mistake.h"

__global__ void step(float *to, const float *x, float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i ? x[i - 1] : 0, right = i + 1 < n ? x[i + 1] : 0;
    v[i] += 0.5f * (left - 2 * x[i] + right);
    to[i] = x[i] + 0.5f * v[i]; // reported
}

int main() {
    int n = 300;
    float *x = counting<float>(n), *v = zeros<float>(n), *to = x;
#ifndef MISTAKE
    to = zeros<float>(n);
#endif
    step<<<2, 256>>>(to, x, v, n);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
