// Lane 0 clears, its warp adds after a __syncwarp; the other warps are not held back by that.
#include "../programs/check.h"

__global__ void count(int *p) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncwarp();
    atomicAdd(&s, 1); // reported
    __syncthreads();
    if (threadIdx.x == 0) p[0] = s;
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    count<<<1, 64>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
