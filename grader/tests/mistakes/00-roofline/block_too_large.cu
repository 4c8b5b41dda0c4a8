// A block of more than 1024 threads is refused, and the kernel never runs.
// lesson: chapters/00-roofline/README.md, What the hardware does
// expect: kernel launch failed: cudaErrorInvalidConfiguration
#include "../mistake.h"

__global__ void mark(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main() {
#ifdef MISTAKE
    int threads = 2048;
#else
    int threads = 1024;
#endif
    int *x = zeros(2048);
    mark<<<2048 / threads, threads>>>(x); // reported
    CHECK(cudaDeviceSynchronize());
    return 0;
}
