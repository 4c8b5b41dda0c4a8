// A counter for each warp.
#include "../programs/check.h"

__global__ void count(int *p) {
    __shared__ int s[2];
    int w = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) s[w] = 0;
    __syncwarp();
    atomicAdd(&s[w], 1);
    __syncthreads();
    if (threadIdx.x == 0) p[0] = s[0] + s[1];
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
