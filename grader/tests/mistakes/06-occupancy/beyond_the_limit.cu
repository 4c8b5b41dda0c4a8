// More shared memory is requested than a block of the device can have.
// lesson: chapters/06-occupancy/shared_budget.md, Hint 1
// expect: cudaErrorInvalidValue
#include "../mistake.h"

__global__ void fill(int *out) {
    extern __shared__ int room[];
    room[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = room[threadIdx.x];
}

int main() {
#ifdef MISTAKE
    int bytes = 228 << 10;
#else
    int bytes = 96 << 10;
#endif
    int *out = zeros(32);
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    fill<<<1, 32, bytes>>>(out); // reported
    CHECK(cudaDeviceSynchronize());
    return 0;
}
