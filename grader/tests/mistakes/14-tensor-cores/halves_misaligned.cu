// A row of halves whose length is no multiple of 8 is loaded by sixteen bytes.
// lesson: chapters/14-tensor-cores/half_sums.md, Hint 1
// expect: misaligned
#include "../mistake.h"
#include <cuda_fp16.h>

__global__ void largest(unsigned *out, const half *x, int cols) {
    uint4 v = reinterpret_cast<const uint4 *>(x + blockIdx.x * cols)[threadIdx.x]; // reported
    out[32 * blockIdx.x + threadIdx.x] = max(max(v.x, v.y), max(v.z, v.w));
}

int main() {
#ifdef MISTAKE
    int cols = 260;
#else
    int cols = 264;
#endif
    half *x = zeros<half>(4 * cols);
    unsigned *out = zeros<unsigned>(128);
    largest<<<4, 32>>>(out, x, cols);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
