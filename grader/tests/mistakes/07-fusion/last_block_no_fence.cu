// Each block stores its part and draws a number, without __threadfence() between.
// lesson: chapters/07-fusion/README.md, What stands between the steps?
// expect: missing fence
#include "../mistake.h"

__global__ void sum(int *out, volatile int *part, unsigned *drawn, const int *in) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        int v = 0;
        for (int i = 0; i < 32; i++) v += in[32 * blockIdx.x + i];
        part[blockIdx.x] = v;
#ifndef MISTAKE
        __threadfence();
#endif
        is_last = atomicAdd(drawn, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x) return;
    __threadfence();
    int total = 0;
    for (int b = 0; b < gridDim.x; b++) total += part[b]; // reported
    *out = total;
}

int main() {
    int *in = counting(128), *part = zeros(4), *out = zeros(1);
    unsigned *drawn = zeros<unsigned>(1);
    sum<<<4, 32>>>(out, part, drawn, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 127 * 64);
    return 0;
}
