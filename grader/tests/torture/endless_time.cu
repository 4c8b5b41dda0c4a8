// The same, ended by the clock.
// not repeatable: where the clock ends it
// run: --timeout 0.2
#include "../programs/check.h"

__global__ void forever(int *p, int stop) {
    int i = 0;
    do i += *(volatile int *)p | 1;
    while (i != stop);
    *p = i;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, sizeof *p));
    CHECK(cudaMemset(p, 1, sizeof *p));
    forever<<<1, 32>>>(p, 0);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
