// What the program did not free.
// run: --leaks
#include "../programs/check.h"

__global__ void set(int *p) { p[threadIdx.x] = 1; }

int main() {
    int *p, *q;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaMalloc(&q, 4096));
    set<<<1, 32>>>(p);
    SHOW(cudaFree(p));
    return 0;
}
