// The sanitizer reports an uninitialized read although nothing faults.
// stderr: uninitialized read
#include "check.h"

__global__ void copy(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }

int main() {
    int *in, *out, host[32];
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemset(in, 1, 16 * sizeof(int)));
    copy<<<1, 32>>>(in, out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[3]);
    return 0;
}
