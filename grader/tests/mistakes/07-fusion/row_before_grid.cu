// Two steps are fused, although the second needs what other blocks make in the first.
// lesson: chapters/07-fusion/quiz.md, 4. Find the error
// expect: data race between blocks
#include "../mistake.h"

__device__ void first(int *half, const int *in, int i) { half[i] = 2 * in[i]; }
__device__ void second(int *out, const int *half, int i, int n) { out[i] = half[i] + half[n - 1 - i]; } // reported
__global__ void fused(int *out, int *half, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    first(half, in, i);
    __syncthreads();
    second(out, half, i, n);
}
__global__ void one(int *half, const int *in) { first(half, in, blockIdx.x * blockDim.x + threadIdx.x); }
__global__ void two(int *out, const int *half, int n) { second(out, half, blockIdx.x * blockDim.x + threadIdx.x, n); }

int main() {
    int n = 128, *in = counting(n), *half = zeros(n), *out = zeros(n);
#ifdef MISTAKE
    fused<<<2, 64>>>(out, half, in, n);
#else
    one<<<2, 64>>>(half, in);
    two<<<2, 64>>>(out, half, n);
#endif
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 254);
    return 0;
}
