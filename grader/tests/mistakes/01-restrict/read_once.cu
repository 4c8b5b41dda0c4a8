// A value is read once before the barrier behind which another thread has changed it.
// lesson: chapters/01-restrict/README.md, When it doesn't pay, and when it hurts
// expect: data race in shared memory
#include "../mistake.h"

__global__ void largest(int *out, const int *in) {
    __shared__ int best;
    int t = threadIdx.x;
    if (t == 0) best = in[0];
    __syncthreads();
    atomicMax(&best, in[t]);
#ifdef MISTAKE
    int b = best; // reported
    __syncthreads();
#else
    __syncthreads();
    int b = best;
#endif
    out[t] = b;
}

int main() {
    int *in = counting(128), *out = zeros(128);
    largest<<<1, 128>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 0) == 127);
    return 0;
}
