// A thread stores where its asynchronous copy may still read.
// lesson: chapters/13-async/async_tiles.md, Hint 2
// expect: missing wait
#include "../mistake.h"
#include <cuda_pipeline.h>

__global__ void take(int *out, int *in) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
#ifndef MISTAKE
    __pipeline_wait_prior(0);
#endif
    in[t] = 0;
    __pipeline_wait_prior(0); // reported
    __syncthreads();
    out[t] = tile[127 - t];
}

int main() {
    int *in = counting(128), *out = zeros(128);
    take<<<1, 128>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 127);
    return 0;
}
