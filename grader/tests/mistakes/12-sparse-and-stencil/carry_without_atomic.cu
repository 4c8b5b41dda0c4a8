// A row reaches over several blocks, and each adds its part by a plain load and store.
// lesson: chapters/12-sparse-and-stencil/README.md, Lists of uneven length
// expect: data race between blocks
#include "../mistake.h"

__global__ void part_of_row(int *y, const int *products) {
    int sum = __reduce_add_sync(0xffffffffu, products[32 * blockIdx.x + threadIdx.x]);
    if (threadIdx.x) return;
#ifdef MISTAKE
    y[blockIdx.x / 2] += sum; // reported
#else
    atomicAdd(&y[blockIdx.x / 2], sum);
#endif
}

int main() {
    int *products = counting(128), *y = zeros(2);
    part_of_row<<<4, 32>>>(y, products);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(y) == 63 * 32);
    return 0;
}
