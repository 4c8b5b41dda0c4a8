// A block is larger than the kernel's __launch_bounds__.
// lesson: chapters/06-occupancy/launch_bounds.md, Hint 1
// expect: kernel launch failed: cudaErrorInvalidValue
#include "../mistake.h"

__global__ void __launch_bounds__(128) mark(int *x) { x[threadIdx.x] = 1; }

int main() {
    int *x = zeros(256);
#ifdef MISTAKE
    mark<<<1, 256>>>(x); // reported
#else
    mark<<<2, 128>>>(x);
#endif
    CHECK(cudaDeviceSynchronize());
    return 0;
}
