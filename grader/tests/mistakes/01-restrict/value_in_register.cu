// The compiler keeps in a register what another thread is meant to change, and drops the loop.
// lesson: chapters/01-restrict/README.md, When it doesn't pay, and when it hurts
// expect: data race in shared memory
#include "../mistake.h"

__global__ void hand_over(int *out) {
#ifdef MISTAKE
    __shared__ int ready;
#else
    __shared__ volatile int ready;
#endif
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 32) atomicExch((int *)&ready, 1);
    if (threadIdx.x == 0) while (!ready) {}
    out[threadIdx.x] = 1;
}

int main() {
    int *out = zeros(64);
    hand_over<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
