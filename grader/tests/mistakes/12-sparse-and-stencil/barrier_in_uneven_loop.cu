// A barrier in a loop over rows, of which the warps have different numbers.
// lesson: chapters/12-sparse-and-stencil/spmv.md, Hint 2
// expect: barrier error
#include "../mistake.h"

__global__ void sums(int *out, const int *in, int rows) {
    __shared__ int part[3];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int r = warp; r < rows; r += 3) {
        int sum = __reduce_add_sync(0xffffffffu, in[32 * r + lane]);
        if (lane == 0) part[warp] = sum;
#ifdef MISTAKE
        __syncthreads();
#else
        __syncwarp();
#endif
        out[32 * r + lane] = part[warp];
#ifndef MISTAKE
        __syncwarp();
#endif
    }
    __syncthreads(); // reported
    out[threadIdx.x] += part[0];
}

int main() {
    int *in = counting(128), *out = zeros(128);
    sums<<<1, 96>>>(out, in, 4);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 96) == 111 * 32 + 16);
    return 0;
}
