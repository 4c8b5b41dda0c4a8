// Threads that break out of a loop with a barrier while others go on.
#include "../programs/check.h"

__global__ void search(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x, found = 0;
    for (int i = 0; i < 8; i++) {
        s[t] = i * t;
        __syncthreads();
        found += s[(t + 1) % 128];
        if (found > 600) break; // reported: true for some only
        __syncthreads();
    }
    p[t] = found + s[t];
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    search<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
