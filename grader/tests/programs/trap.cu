// __trap and assert end a kernel, each with its own error.
// status: 2
// stderr: trap
#include "check.h"

__global__ void trapped(int n) {
    if (threadIdx.x == n) __trap();
}

int main() {
    trapped<<<1, 32>>>(40);
    SHOW(cudaDeviceSynchronize());
    trapped<<<1, 32>>>(5);
    SHOW(cudaDeviceSynchronize());
    return 2;
}
