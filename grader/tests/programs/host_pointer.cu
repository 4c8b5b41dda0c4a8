// A host pointer passed to a kernel, the classic mistake.
// not repeatable: the host places its variables anew each time
// stderr: out-of-bounds
#include "check.h"

__global__ void write(int *p) { p[threadIdx.x] = 1; }

int main() {
    int on_stack[32];
    write<<<1, 32>>>(on_stack);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    return 0;
}
