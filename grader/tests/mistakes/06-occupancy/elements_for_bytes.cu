// The third launch argument counts elements, and should count bytes.
// lesson: chapters/06-occupancy/shared_budget.md, Hint 1
// expect: out-of-bounds
#include "../mistake.h"

__global__ void reverse(int *out) {
    extern __shared__ int room[];
    room[threadIdx.x] = threadIdx.x; // reported
    __syncthreads();
    out[threadIdx.x] = room[63 - threadIdx.x];
}

int main() {
    int *out = zeros(64);
#ifdef MISTAKE
    reverse<<<1, 64, 64>>>(out);
#else
    reverse<<<1, 64, 64 * sizeof(int)>>>(out);
#endif
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 63);
    return 0;
}
