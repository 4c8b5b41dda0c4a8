// Parts of rows are added to y, which holds anything before.
// lesson: chapters/12-sparse-and-stencil/spmv.md, spmv: a sparse matrix times a vector
// expect: uninitialized
#include "../mistake.h"

__global__ void part_of_row(int *y, const int *products) {
    int sum = __reduce_add_sync(0xffffffffu, products[32 * blockIdx.x + threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(&y[blockIdx.x / 2], sum); // reported
}

int main() {
    int *products = counting(128), *y;
    CHECK(cudaMalloc(&y, 2 * sizeof *y));
#ifndef MISTAKE
    CHECK(cudaMemset(y, 0, 2 * sizeof *y));
#endif
    part_of_row<<<4, 32>>>(y, products);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(y) == 63 * 32);
    return 0;
}
