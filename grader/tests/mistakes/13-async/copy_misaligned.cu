// An asynchronous copy of 16 bytes from an address that is not a multiple of 16.
// lesson: chapters/13-async/README.md, Asynchronous copies
// expect: misaligned
#include "../mistake.h"
#include <cuda_pipeline.h>

__global__ void copy(int *out, const int *in) {
    __shared__ alignas(16) int tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[4 * t], &in[4 * t], 16); // reported
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[127 - t];
}

int main() {
    int *in = counting(160), *out = zeros(32);
#ifdef MISTAKE
    in += 1;
#else
    in += 4;
#endif
    copy<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 131);
    return 0;
}
