// A kernel that reads its neighbours works in place: threads overwrite what others still read.
// lesson: chapters/01-restrict/quiz.md, 5. Who breaks the promise?
// expect: data race
#include "../mistake.h"

__global__ void step(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = in[i - 1] + in[i] + in[i + 1]; // reported
}

int main() {
    float *p = counting<float>(256), *q = zeros<float>(256);
#ifdef MISTAKE
    q = p;
#endif
    step<<<2, 128>>>(q, p, 256);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
