// One block adds up what all blocks store, in the same launch.
// lesson: solutions/05-atomics-reduction/max_reduce-ladder.md, max_reduce-2-two-kernels.cu
// expect: data race between blocks
#include "../mistake.h"

__device__ void parts(int *part, const int *in) {
    int v = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_down_sync(0xffffffffu, v, d));
    if (threadIdx.x == 0) part[blockIdx.x] = v;
}
__device__ void join(int *out, const int *part, int n) {
    int v = 0;
    for (int b = 0; b < n; b++) v = max(v, part[b]); // reported
    *out = v;
}
__global__ void all(int *out, int *part, const int *in) {
    parts(part, in);
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) join(out, part, gridDim.x);
}
__global__ void first(int *part, const int *in) { parts(part, in); }
__global__ void second(int *out, const int *part, int n) { join(out, part, n); }

int main() {
    int *in = counting(128), *part = zeros(4), *out = zeros(1);
#ifdef MISTAKE
    all<<<4, 32>>>(out, part, in);
#else
    first<<<4, 32>>>(part, in);
    second<<<1, 1>>>(out, part, 4);
#endif
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 127);
    return 0;
}
