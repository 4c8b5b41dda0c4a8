// Mean and variance are added up in one place: a fast warp overwrites what a slow one still reads.
// lesson: solutions/07-fusion/layer_norm-ladder.md, layer_norm-2-one-kernel.cu
// expect: data race in shared memory
#include "../mistake.h"

__device__ int block_sum(int v, int *part) { // of 64 threads
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v; // reported
    __syncthreads();
    return part[0] + part[1];
}
__global__ void normalize(int *out, const int *in) {
    __shared__ int part[2][2];
    int x = in[threadIdx.x], mean = block_sum(x, part[0]) / 64;
#ifdef MISTAKE
    int variance = block_sum((x - mean) * (x - mean), part[0]) / 64;
#else
    int variance = block_sum((x - mean) * (x - mean), part[1]) / 64;
#endif
    out[threadIdx.x] = (x - mean) * 100 / variance;
}

int main() {
    int *in = counting(64), *out = zeros(64);
    normalize<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
