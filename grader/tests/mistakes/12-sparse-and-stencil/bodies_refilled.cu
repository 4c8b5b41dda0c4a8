// A tile of bodies is refilled while slower warps still compute with it.
// lesson: chapters/12-sparse-and-stencil/README.md, All pairs
// expect: data race in shared memory
#include "../mistake.h"

__global__ void pull(float *out, const float4 *bodies, int n) {
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int first = 0; first < n; first += 64) {
        tile[t] = bodies[first + t]; // reported
        __syncthreads();
        for (int j = 0; j < 64; j++) sum += tile[j].w + tile[j].x;
#ifndef MISTAKE
        __syncthreads();
#endif
    }
    out[t] = sum;
}

int main() {
    float *bodies = counting<float>(512), *out = zeros<float>(64);
    pull<<<1, 64>>>(out, (const float4 *)bodies, 128);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
