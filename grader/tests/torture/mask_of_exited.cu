// A mask that names lanes which have left, which is allowed: the others do not wait for them.
#include "../programs/check.h"

__global__ void leave(int *p) {
    int t = threadIdx.x;
    if (t >= 20) return;
    p[t] = __shfl_down_sync(0xffffffffu, t, 4);
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    leave<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
