// A launch with more than 48 KB of dynamic shared memory, without cudaFuncSetAttribute before.
// lesson: chapters/06-occupancy/shared_budget.md, Hint 1
// expect: kernel launch failed: cudaErrorInvalidValue
#include "../mistake.h"

__global__ void look_up(int *out, const int *in) {
    extern __shared__ int table[];
    for (int i = threadIdx.x; i < 16000; i += blockDim.x) table[i] = i;
    __syncthreads();
    out[threadIdx.x] = table[in[threadIdx.x]];
}

int main() {
    int *in = counting(256), *out = zeros(256), room = 16000 * sizeof(int);
#ifndef MISTAKE
    CHECK(cudaFuncSetAttribute(look_up, cudaFuncAttributeMaxDynamicSharedMemorySize, room));
#endif
    look_up<<<1, 256, room>>>(out, in); // reported
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 255) == 255);
    return 0;
}
