// Each half shuffles within itself.
#include "../programs/check.h"

__global__ void half(int *p) {
    int t = threadIdx.x;
    p[t] = t < 16 ? __shfl_sync(0x0000ffffu, t, t + 1, 16) : __shfl_sync(0xffff0000u, t, t + 3, 16);
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    half<<<1, 32>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
