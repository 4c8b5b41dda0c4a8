// Whole warps that skip a barrier and meet the others at the next one.
#include "../programs/check.h"

__global__ void skip(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 64) __syncthreads();
    p[t] = s[t ^ 1];
    __syncthreads(); // reported
    p[t] += s[t ^ 2];
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    skip<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
