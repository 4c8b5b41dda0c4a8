// A fast warp stores the next plane while a slow one still reads this one.
// lesson: chapters/12-sparse-and-stencil/quiz.md, 5. Find the error
// expect: data race in shared memory
#include "../mistake.h"

__global__ void planes(int *out, const int *in, int depth) {
    __shared__ int tile[66];
    int x = threadIdx.x;
    if (x < 2) tile[65 * x] = 0;
    for (int z = 0; z < depth; z++) {
        tile[x + 1] = in[64 * z + x]; // reported
        __syncthreads();
        out[64 * z + x] = tile[x] + tile[x + 2];
#ifndef MISTAKE
        __syncthreads();
#endif
    }
}

int main() {
    int *in = counting(256), *out = zeros(256);
    planes<<<1, 64>>>(out, in, 4);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 1) == 2);
    return 0;
}
