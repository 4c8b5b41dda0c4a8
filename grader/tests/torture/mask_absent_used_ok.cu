// Blocks of 8, 24 and 48 threads with full masks: those that do not exist are not waited for, and none is used.
#include "../programs/check.h"

__global__ void sum(int *p) {
    int t = threadIdx.x, n = min(32, (int)blockDim.x - t / 32 * 32), lane = t % 32, v = t;
    for (int d = 16; d > 0; d /= 2) {
        int other = __shfl_down_sync(0xffffffffu, v, d);
        if (lane + d < n) v += other;
    }
    unsigned all = __ballot_sync(0xffffffffu, t >= 0);
    __syncwarp();
    if (lane == 0) p[t / 32] = v + __popc(all);
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    sum<<<1, 8>>>(p);
    sum<<<1, 24>>>(p);
    sum<<<1, 48>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
