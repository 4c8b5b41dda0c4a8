// The ring has one tile less than copies under way and the tile that is used.
// lesson: chapters/13-async/README.md, How much must be in flight
// expect: data race in shared memory
#include "../mistake.h"
#include <cuda_pipeline.h>

constexpr int AHEAD = 2;
#ifdef MISTAKE
constexpr int RING = AHEAD;
#else
constexpr int RING = AHEAD + 1;
#endif
__global__ void sums(int *out, const int *in, int tiles) {
    __shared__ int tile[RING][64];
    int t = threadIdx.x, sum = 0;
    auto ask = [&](int i) {
        if (i < tiles) __pipeline_memcpy_async(&tile[i % RING][t], &in[64 * i + t], 4);
        __pipeline_commit();
    };
    for (int i = 0; i < AHEAD; i++) ask(i);
    for (int i = 0; i < tiles; i++) {
        __pipeline_wait_prior(AHEAD - 1);
        __syncthreads();
        ask(i + AHEAD);
        sum += tile[i % RING][63 - t]; // reported
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
