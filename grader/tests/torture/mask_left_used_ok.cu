// The same, and only lanes that are there are read.
#include "../programs/check.h"

__global__ void leave(int *p) {
    int t = threadIdx.x;
    if (t >= 20) return;
    int v = __shfl_down_sync(0xffffffffu, t, 4);
    if (t < 16 && v > 10) p[t] = v;
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    leave<<<1, 32>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
