// The same with one barrier for both.
#include "../programs/check.h"

__global__ void sides(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t < 64 ? t : 2 * t;
    __syncthreads();
    p[t] = s[t ^ 64];
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    sides<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
