// Two warps wait in one branch and two in the other: at two barriers, not one.
#include "../programs/check.h"

__global__ void sides(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = t;
        __syncthreads();
        p[t] = s[t + 64];
    } else {
        s[t] = 2 * t;
        __syncthreads(); // reported
        p[t] = s[t - 64];
    }
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
