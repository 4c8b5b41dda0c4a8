// The mask names those that take the branch.
#include "../programs/check.h"

__global__ void vote(int *p) {
    int t = threadIdx.x;
    unsigned low = __ballot_sync(0xffffffffu, t < 28);
    if (t < 28) p[t] = __any_sync(low, t == 3);
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    vote<<<1, 32>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
