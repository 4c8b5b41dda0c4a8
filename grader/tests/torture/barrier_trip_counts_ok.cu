// The same number of rounds for all, and work for some.
#include "../programs/check.h"

__global__ void rounds(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < (int)blockDim.x / 32; i++) {
        if (i < t / 32 + 1) s[t] = i;
        __syncthreads();
        sum += s[t & 31];
        __syncthreads();
    }
    p[t] = sum;
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    rounds<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
