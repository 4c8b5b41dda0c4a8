// cudaDeviceReset frees memory and restores the initial values of variables.
#include "check.h"
__device__ int v = 5;
__global__ void inc() { v++; }
int main() {
    inc<<<1, 1>>>();
    int h;
    CHECK(cudaMemcpyFromSymbol(&h, v, 4));
    printf("%d\n", h);
    size_t a, b, t;
    int *p;
    CHECK(cudaMemGetInfo(&a, &t));
    CHECK(cudaMalloc(&p, 1 << 20));
    CHECK(cudaDeviceReset());
    CHECK(cudaMemGetInfo(&b, &t));
    printf("%d\n", a == b);
    CHECK(cudaMemcpyFromSymbol(&h, v, 4));
    printf("%d\n", h);
    CHECK(cudaMalloc(&p, 4));
    inc<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    SHOW(cudaFree(p));
}
