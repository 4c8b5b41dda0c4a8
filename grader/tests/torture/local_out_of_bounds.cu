// Past the end of an array in local memory, and so of all the local memory that the thread has.
#include "../programs/check.h"

__global__ void fill(int *p, int n) {
    int a[16];
    for (int i = 0; i < n; i++) a[i * p[0] + i] = i; // reported
    p[threadIdx.x] = a[p[1]];
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    fill<<<1, 32>>>(p, 40);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
