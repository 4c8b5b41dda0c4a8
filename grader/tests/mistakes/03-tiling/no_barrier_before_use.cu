// Threads use the tile before all have filled it.
// lesson: chapters/03-tiling/README.md, What the hardware does
// expect: data race in shared memory
#include "../mistake.h"

constexpr int TILE = 64;
__global__ void distances(float *sums, const float *x, int n) {
    __shared__ float tile[TILE];
    float mine = x[threadIdx.x], sum = 0;
    for (int first = 0; first < n; first += TILE) {
        tile[threadIdx.x] = x[first + threadIdx.x];
#ifndef MISTAKE
        __syncthreads();
#endif
        for (int j = 0; j < TILE; j++) sum += fabsf(mine - tile[j]); // reported
        __syncthreads();
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
