// Two halves of a warp, each at a shuffle of the whole warp that the other half never reaches: their kinds differ.
#include "../programs/check.h"

__global__ void cross(int *out) {
    int t = threadIdx.x, v;
    if (t < 16) v = __shfl_sync(0xffffffffu, t, 3);
    else v = (int)__ballot_sync(0xffffffffu, t & 1);
    out[t] = v;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 32 * sizeof(int)));
    cross<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
