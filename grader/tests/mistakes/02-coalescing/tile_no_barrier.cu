// A transpose through shared memory without a barrier between writing and reading the tile.
// lesson: chapters/02-coalescing/transpose.md, Hint 2
// expect: data race in shared memory
#include "../mistake.h"

__global__ void transpose(float *out, const float *in) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[16 * y + x];
#ifndef MISTAKE
    __syncthreads();
#endif
    out[16 * y + x] = tile[x][y]; // reported
}

int main() {
    float *in = counting<float>(256), *out = zeros<float>(256);
    transpose<<<1, dim3(16, 16)>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 1) == 16);
    return 0;
}
