// A copy that nothing waits for: the barrier alone does not.
#include "../programs/check.h"

#include <cuda_pipeline.h>

__global__ void copy(int *p, const int *in) {
    __shared__ int s[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    __syncthreads();
    p[t] = s[127 - t]; // reported where nothing waits
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    int *in;
    CHECK(cudaMalloc(&in, 1 << 16));
    CHECK(cudaMemset(in, 1, 1 << 16));
    copy<<<1, 128>>>(p, in);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
