// Rows are added up before all products are in shared memory.
// lesson: chapters/12-sparse-and-stencil/spmv.md, Hint 2
// expect: data race in shared memory
#include "../mistake.h"

__global__ void rows(int *y, const int *offsets, const int *values, const int *x) {
    __shared__ int product[128];
    int t = threadIdx.x, sum = 0;
    product[t] = values[t] * x[t]; // reported
#ifndef MISTAKE
    __syncthreads();
#endif
    if (t >= 32) return;
    for (int i = offsets[t]; i < offsets[t] + 4; i++) sum += product[i];
    y[t] = sum;
}

int main() {
    int *values = counting(128), *y = zeros(32), *offsets = zeros(32), host[32];
    for (int r = 0; r < 32; r++) host[r] = 4 * r;
    CHECK(cudaMemcpy(offsets, host, sizeof host, cudaMemcpyHostToDevice));
    rows<<<1, 128>>>(y, offsets, values, values);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(y) == 14);
    return 0;
}
