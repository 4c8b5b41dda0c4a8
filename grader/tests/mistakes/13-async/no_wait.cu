// Asynchronous copies are used behind a barrier, but nobody has waited for them.
// lesson: chapters/13-async/README.md, Asynchronous copies
// expect: missing wait
#include "../mistake.h"
#include <cuda_pipeline.h>

__global__ void turn(int *out, const int *in) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
#ifndef MISTAKE
    __pipeline_wait_prior(0);
#endif
    __syncthreads();
    out[t] = tile[127 - t]; // reported
}

int main() {
    int *in = counting(128), *out = zeros(128);
    turn<<<1, 128>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 127);
    return 0;
}
