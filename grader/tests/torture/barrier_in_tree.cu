// A tree whose barrier stands inside the condition: threads that rest go round it.
#include "../programs/check.h"

__global__ void tree(int *p) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) { // reported: not the same for all
            s[t] += s[t + d];
            __syncthreads();
        }
    }
    if (t == 0) p[0] = s[0];
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    tree<<<1, 256>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
