// Two halves at a named barrier each, and barriers of threads, not warps, from two places.
#include "../programs/check.h"

__global__ void named(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t < 64) s[t] = 1;
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    p[t] = t < 64 ? s[63 - t] : 0;
    if (t % 2) asm volatile("barrier.sync 0;" ::: "memory");
    else asm volatile("barrier.sync 0;" ::: "memory");
    p[t] += s[t & 63];
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    named<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
