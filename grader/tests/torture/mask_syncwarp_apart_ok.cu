// Lanes of one warp meet at __syncwarp from two places.
#include "../programs/check.h"

__global__ void apart(int *p) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t % 32 < 16) {
        __syncwarp();
        p[t] = s[t + 16];
    } else {
        __syncwarp();
        p[t] = s[t - 16];
    }
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    apart<<<1, 64>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
