// The caller works in place, although both pointers are __restrict__.
// lesson: chapters/01-restrict/quiz.md, 5. Who breaks the promise?
// missed: only the grader notes it, where the result is wrong; in-place kernels break this promise and work
#include "../mistake.h"

__global__ void follow(float *__restrict__ level, const float *__restrict__ x, int length) { // one thread a signal
    int s = threadIdx.x;
    for (int j = 0; j < length; j++) level[s] += 0.5f * (x[j * blockDim.x + s] - level[s]);
}

int main() {
    float *x = counting<float>(4 * 32), *level = zeros<float>(32);
#ifdef MISTAKE
    level = x + 2 * 32; // a row of x
#endif
    follow<<<1, 32>>>(level, x, 4);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
