// The wait stands behind the barrier, so it says nothing of the other threads' copies.
// lesson: chapters/13-async/README.md, Asynchronous copies
// expect: missing wait
#include "../mistake.h"
#include <cuda_pipeline.h>

__global__ void turn(int *out, const int *in) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
#ifdef MISTAKE
    __syncthreads();
    __pipeline_wait_prior(0);
#else
    __pipeline_wait_prior(0);
    __syncthreads();
#endif
    out[t] = tile[127 - t]; // reported
}

int main() {
    int *in = counting(128), *out = zeros(128);
    turn<<<1, 128>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 127);
    return 0;
}
