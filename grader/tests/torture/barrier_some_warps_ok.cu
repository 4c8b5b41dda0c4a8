// A barrier in a condition that is the same for the whole block, in one block and not in the other.
#include "../programs/check.h"

__global__ void skip(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (blockIdx.x == 1) {
        s[t] = t;
        __syncthreads();
        p[t] = s[t ^ 32];
    }
    __syncthreads();
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    skip<<<2, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
