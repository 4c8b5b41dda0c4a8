// A warp of 24 threads adds up what lanes hold that it does not have.
#include "../programs/check.h"

__global__ void sum(int *p) {
    int t = threadIdx.x, v = t;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d); // reported where lane 0's sum is read back
    if (t == 0) p[0] = v;
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    sum<<<1, 24>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
