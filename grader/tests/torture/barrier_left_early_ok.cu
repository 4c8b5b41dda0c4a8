// Threads that return, also out of a loop, before a barrier: it counts those that are left.
#include "../programs/check.h"

__global__ void left(int *p) {
    __shared__ int s[256];
    int t = threadIdx.x, sum = 0;
    s[t] = t;
    if (t >= 200) return;
    for (int i = 0; i < 10; i++) {
        __syncthreads();
        if (i == 5 && t >= 100) return;
        sum += s[(t + i) % 100];
    }
    p[t] = sum;
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    left<<<1, 256>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
