// Lanes wait at __syncwarp for lanes that wait at __syncthreads.
#include "../programs/check.h"

__global__ void apart(int *p) {
    int t = threadIdx.x;
    if (t % 32 < 16) __syncwarp();
    else __syncthreads(); // reported
    p[t] = t;
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
