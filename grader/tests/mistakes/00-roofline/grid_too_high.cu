// The long dimension is y, in which a grid may have 65 535 blocks.
// lesson: chapters/00-roofline/README.md, Example: one element a thread, or several
// expect: kernel launch failed: cudaErrorInvalidConfiguration
#include "../mistake.h"

__global__ void mark(char *x) { x[blockIdx.x + blockIdx.y] = 1; }

int main() {
    int n = 65536;
    char *x = zeros<char>(n);
#ifdef MISTAKE
    dim3 grid(1, n);
#else
    dim3 grid(n, 1);
#endif
    mark<<<grid, 1>>>(x); // reported
    CHECK(cudaDeviceSynchronize());
    return 0;
}
