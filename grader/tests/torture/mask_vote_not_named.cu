// A lane votes that is not in the mask.
#include "../programs/check.h"

__global__ void vote(int *p) {
    int t = threadIdx.x;
    p[t] = __any_sync(0x0fffffffu, t == 3); // reported
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
