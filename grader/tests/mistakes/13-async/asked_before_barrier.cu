// The next tile is asked for before the barrier, into the place that others still read.
// lesson: chapters/13-async/README.md, Asynchronous copies
// expect: data race in shared memory
#include "../mistake.h"
#include <cuda_pipeline.h>

__global__ void sums(int *out, const int *in, int tiles) {
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    auto ask = [&](int i) {
        if (i < tiles) __pipeline_memcpy_async(&tile[i % 2][t], &in[64 * i + t], 4); // reported
        __pipeline_commit();
    };
    ask(0);
    for (int i = 0; i < tiles; i++) {
#ifdef MISTAKE
        ask(i + 1);
        __pipeline_wait_prior(1);
        __syncthreads();
#else
        __pipeline_wait_prior(0);
        __syncthreads();
        ask(i + 1);
#endif
        sum += tile[i % 2][63 - t];
    }
    out[t] = sum;
}

int main() {
    int *in = counting(256), *out = zeros(64);
    sums<<<1, 64>>>(out, in, 4);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 4 * 63 + 64 * 6);
    return 0;
}
