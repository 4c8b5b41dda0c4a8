// Errors that a launch returns, and wrong arguments that calls refuse.
// stderr: simgpu:
#include "check.h"
__global__ void bad(int *p) { p[threadIdx.x] = 1; }
int main() {
    int *p;
    CHECK(cudaMalloc(&p, 64));
    bad<<<1, 2048>>>(p);
    SHOW(cudaPeekAtLastError());
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
    bad<<<0, 32>>>(p);
    SHOW(cudaGetLastError());
    bad<<<1, 32, 1 << 20>>>(p);
    SHOW(cudaGetLastError());
    bad<<<1, 16>>>(p);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMemcpy(p, p, 1 << 20, cudaMemcpyDeviceToDevice));
    SHOW(cudaFree((void *)0x1234));
    SHOW(cudaGetLastError());
}
