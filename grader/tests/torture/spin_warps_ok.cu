// Warps of a block that wait for each other by flags, a lock and a barrier of their own in shared memory: each goes on in turn.
#include "../programs/check.h"

__global__ void chain(int *out) {
    __shared__ volatile int flag[8];
    __shared__ int sum[8];
    int w = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) flag[w] = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (w && !flag[w - 1]) {}
        __threadfence_block();
        sum[w] = (w ? sum[w - 1] : 0) + w;
        __threadfence_block();
        flag[w] = 1;
    }
    __syncthreads();
    out[threadIdx.x] = sum[w];
}

__global__ void barrier(int *out) {
    __shared__ int count, s[256];
    int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    s[t] = t;
    __syncwarp();
    if (t % 32 == 0) {
        __threadfence_block();
        atomicAdd(&count, 1);
        while (*(volatile int *)&count < 8) {}
        __threadfence_block();
    }
    __syncwarp();
    out[t] = s[t ^ 128];
}

int main() {
    int *p, host[256];
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    chain<<<2, 256>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[255]);
    barrier<<<1, 256>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[255]);
    return 0;
}
