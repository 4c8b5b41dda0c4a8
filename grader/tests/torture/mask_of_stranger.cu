// A shuffle that reads a lane which takes no part: the value is undefined.
#include "../programs/check.h"

__global__ void half(int *p) {
    int t = threadIdx.x;
    if (t < 16) p[t] = __shfl_sync(0x0000ffffu, t, t + 8); // reported where it is read back
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    half<<<1, 32>>>(p);
    int host[32];
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    return 0;
}
