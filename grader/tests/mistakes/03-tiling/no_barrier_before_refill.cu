// A fast warp refills the tile while a slow one still uses it.
// lesson: chapters/03-tiling/quiz.md, 3. Find the error
// expect: data race in shared memory
#include "../mistake.h"

constexpr int TILE = 64;
__global__ void distances(float *sums, const float *x, int n) {
    __shared__ float tile[TILE];
    float mine = x[threadIdx.x], sum = 0;
    for (int first = 0; first < n; first += TILE) {
        tile[threadIdx.x] = x[first + threadIdx.x]; // reported
        __syncthreads();
        for (int j = 0; j < TILE; j++) sum += fabsf(mine - tile[j]);
#ifndef MISTAKE
        __syncthreads();
#endif
    }
    sums[threadIdx.x] = sum;
}

int main() {
    float *x = counting<float>(128), *sums = zeros<float>(64);
    distances<<<1, TILE>>>(sums, x, 128);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(sums) == 8128);
    return 0;
}
