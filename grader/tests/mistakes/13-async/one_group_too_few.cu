// A ring of three tiles leaves two groups under way, one of which is the tile that is needed.
// lesson: chapters/13-async/stages.md, Hint 2
// expect: missing wait
#include "../mistake.h"
#include <cuda_pipeline.h>

constexpr int RING = 3;
#ifdef MISTAKE
constexpr int LEFT = RING - 1;
#else
constexpr int LEFT = RING - 2;
#endif
__global__ void sums(int *out, const int *in, int tiles) {
    __shared__ int tile[RING][64];
    int t = threadIdx.x, sum = 0;
    auto ask = [&](int i) {
        if (i < tiles) __pipeline_memcpy_async(&tile[i % RING][t], &in[64 * i + t], 4);
        __pipeline_commit();
    };
    for (int i = 0; i < RING - 1; i++) ask(i);
    for (int i = 0; i < tiles; i++) {
        __pipeline_wait_prior(LEFT);
        __syncthreads();
        ask(i + RING - 1);
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
