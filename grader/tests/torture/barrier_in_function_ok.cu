// The same, called by all.
#include "../programs/check.h"

__device__ __noinline__ void meet(int *s, int t) {
    s[t] = t;
    __syncthreads();
}
__device__ __noinline__ int look(int *s, int t) {
    __syncthreads();
    return s[t ^ 64];
}
__global__ void halves(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x;
    meet(s, t);
    p[t] = look(s, t);
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    halves<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
