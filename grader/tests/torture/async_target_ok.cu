// It is stored to afterwards.
#include "../programs/check.h"

#include <cuda_pipeline.h>

__global__ void copy(int *p, const int *in) {
    __shared__ int s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (t < 8) s[t] = 0;
    p[t] = s[t];
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    int *in;
    CHECK(cudaMalloc(&in, 1 << 16));
    CHECK(cudaMemset(in, 1, 1 << 16));
    copy<<<1, 64>>>(p, in);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
