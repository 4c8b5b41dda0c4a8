// The same, waited for.
#include "../programs/check.h"

#include <cuda_pipeline.h>

__global__ void copy(int *p, const int *in) {
    __shared__ int4 s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], (const int4 *)in + t, 16, t % 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    p[t] = s[t].x + s[t].w;
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
