// Device malloc beyond the heap's usual 8 MiB, as cudaDeviceSetLimit allows.
#include "check.h"
__global__ void grab(int *ok) {
    char *p = (char *)malloc(1 << 20);
    if (p) {
        p[0] = 1;
        p[(1 << 20) - 1] = 2;
        atomicAdd(ok, p[0] + p[(1 << 20) - 1] == 3);
    }
}
int main() {
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 256 << 20));
    int *o, h;
    CHECK(cudaMalloc(&o, 4));
    CHECK(cudaMemset(o, 0, 4));
    grab<<<1, 64>>>(o);
    CHECK(cudaMemcpy(&h, o, 4, cudaMemcpyDeviceToHost));
    printf("%d of 64\n", h);
}
