// A block uses the table before all of it was fetched.
// lesson: chapters/06-occupancy/shared_budget.md, Hint 2
// expect: data race in shared memory
#include "../mistake.h"

__global__ void look_up(int *out, const int *table, const int *in) {
    __shared__ int mine[256];
    for (int i = threadIdx.x; i < 256; i += 64) mine[i] = table[i];
#ifndef MISTAKE
    __syncthreads();
#endif
    out[threadIdx.x] = mine[in[threadIdx.x] * 37 % 256]; // reported
}

int main() {
    int *table = counting(256), *in = counting(64), *out = zeros(64);
    look_up<<<1, 64>>>(out, table, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 2) == 74);
    return 0;
}
