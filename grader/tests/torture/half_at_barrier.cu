// Half of a warp waits at a block barrier, the other half at a shuffle of the whole warp: neither ever comes.
#include "../programs/check.h"

__global__ void wait_for_shuffle(int *out) {
    int t = threadIdx.x, v = t;
    if (t < 16) v = __shfl_sync(0xffffffffu, v, 0); // the other half never comes
    else __syncthreads();
    out[t] = v;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 64 * sizeof(int)));
    wait_for_shuffle<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
