// A named barrier for 128 threads of which only 64 come.
#include "../programs/check.h"

__global__ void named(int *p) {
    int t = threadIdx.x;
    if (t < 64) asm volatile("bar.sync 1, 128;" ::: "memory"); // reported
    else asm volatile("bar.sync 2, 128;" ::: "memory");
    p[t] = t;
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
