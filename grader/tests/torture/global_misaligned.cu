// A float2 in the middle of one.
#include "../programs/check.h"

__global__ void halve(float *p) {
    float2 v = *(float2 *)(p + 2 * threadIdx.x + 1); // reported
    p[threadIdx.x] = v.x + v.y;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    halve<<<1, 32>>>((float *)p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
