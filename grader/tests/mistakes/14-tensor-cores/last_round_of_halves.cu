// The last round of a warp loads what the row does not have, instead of taking it to be zeros.
// lesson: chapters/14-tensor-cores/half_sums.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"
#include <cuda_fp16.h>

__global__ void largest(unsigned *out, const half *x, int n) {
    const uint4 *from = reinterpret_cast<const uint4 *>(x);
    unsigned most = 0;
    for (int first = 0; first < n / 8; first += 32) {
        int i = first + threadIdx.x;
#ifdef MISTAKE
        uint4 v = from[i]; // reported
#else
        uint4 v = i < n / 8 ? from[i] : uint4{};
#endif
        most = max(most, max(max(v.x, v.y), max(v.z, v.w)));
    }
    out[threadIdx.x] = most;
}

int main() {
    half *x = zeros<half>(320);
    unsigned *out = zeros<unsigned>(32);
    largest<<<1, 32>>>(out, x, 320);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
