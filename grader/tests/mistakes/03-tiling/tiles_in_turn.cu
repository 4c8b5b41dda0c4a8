// One barrier a piece is enough with two tiles in turn; with one tile it is not.
// lesson: chapters/03-tiling/README.md, What the hardware does
// expect: data race in shared memory
#include "../mistake.h"

#ifdef MISTAKE
constexpr int TILES = 1;
#else
constexpr int TILES = 2;
#endif
__global__ void sums(float *out, const float *in, int n) {
    __shared__ float tile[TILES][64];
    int t = threadIdx.x;
    float sum = 0;
    for (int first = 0, turn = 0; first < n; first += 64, turn++) {
        tile[turn % TILES][t] = in[first + t];
        __syncthreads();
        sum += tile[turn % TILES][63 - t]; // reported
    }
    out[t] = sum;
}

int main() {
    float *in = counting<float>(256), *out = zeros<float>(64);
    sums<<<1, 64>>>(out, in, 256);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 4 * 63 + 64 * 6);
    return 0;
}
