// No barrier between setting the shared counter to 0 and adding to it.
// lesson: chapters/05-atomics-reduction/count_equal.md, Hint 3
// expect: data race in shared memory
#include "../mistake.h"

__global__ void count(int *total, const int *in) {
    __shared__ int mine;
    if (threadIdx.x == 0) mine = 0;
#ifndef MISTAKE
    __syncthreads();
#endif
    if (in[threadIdx.x] % 2) atomicAdd(&mine, 1); // reported
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, mine);
}

int main() {
    int *in = counting(128), *total = zeros(1);
    count<<<1, 128>>>(total, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(total) == 64);
    return 0;
}
