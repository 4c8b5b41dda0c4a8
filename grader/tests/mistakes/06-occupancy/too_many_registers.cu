// A block of 1024 threads of a kernel that takes more than 64 registers a thread.
// lesson: chapters/06-occupancy/README.md, Registers
// expect: kernel launch failed: cudaErrorLaunchOutOfResources
#include "../mistake.h"

__global__ void filters(float *out, const float *in, int n) { // 96 sums in registers
    float sum[96] = {};
    for (int j = 0; j < n; j++) {
        float v = in[j];
#pragma unroll
        for (int k = 0; k < 96; k++) sum[k] = sum[k] * v + k;
    }
#pragma unroll
    for (int k = 0; k < 96; k++) out[k * blockDim.x + threadIdx.x] = sum[k];
}

int main() {
    float *in = counting<float>(4), *out = zeros<float>(96 * 1024);
#ifdef MISTAKE
    filters<<<1, 1024>>>(out, in, 4); // reported
#else
    filters<<<1, 256>>>(out, in, 4);
#endif
    CHECK(cudaDeviceSynchronize());
    return 0;
}
