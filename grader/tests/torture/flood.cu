// Thousands of findings: one line of report for each kernel and kind.
#include "../programs/check.h"

__global__ void raw(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] == 0) out[i] = 1; // reported: it decides whether to write
}

int main() {
    int *in, *out, n = 10000;
    CHECK(cudaMalloc(&in, n * sizeof(int)));
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    for (int i = 0; i < 5; i++) raw<<<40, 256>>>(in, out, n);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
