// A lane of one half asks the other half, which is not in the mask.
#include "../programs/check.h"

__global__ void half(int *p) {
    int t = threadIdx.x, v = 0;
    if (t < 16) v = __shfl_sync(0x0000ffffu, t, t + 1);
    p[t] = v; // reported where it is read back
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    half<<<1, 32>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
