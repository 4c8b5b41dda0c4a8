// The index of an element beyond 2^31 is computed with 32 bits.
// lesson: chapters/00-roofline/README.md, Example: one element a thread, or several
// expect: out-of-bounds
#include "../mistake.h"

#ifdef MISTAKE
using number = int;
#else
using number = size_t;
#endif
__global__ void mark_last_row(char *x, number rows, number columns) {
    number i = (rows - 1) * columns + threadIdx.x;
    x[i] = 1; // reported
}

int main() {
    size_t rows = 65536, columns = 40000;
    char *x;
    CHECK(cudaMalloc(&x, rows * columns));
    mark_last_row<<<1, 32>>>(x, rows, columns);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(x, (rows - 1) * columns) == 1);
    return 0;
}
