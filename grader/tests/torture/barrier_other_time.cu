// All threads come twice to one barrier, but some go round it the first time and some the second.
#include "../programs/check.h"

__global__ void turns(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    for (int i = 0; i < 2; i++) {
        if (i == (t / 32 & 1)) __syncthreads(); // reported
        p[t] += s[t ^ 32];
    }
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    turns<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
