// A plain read of what other blocks change by atomics, whose value is kept.
#include "../programs/check.h"

__global__ void most(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i * 7919 % n, seen = p[1]; // reported: goes into p[2 + i]
    if (v > seen) atomicMax(&p[1], v);
    if (i < 254) p[2 + i] = seen;
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    most<<<8, 256>>>(p, 1009);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
