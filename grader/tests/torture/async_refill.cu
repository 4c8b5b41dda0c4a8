// A stage is refilled while other warps still read it.
#include "../programs/check.h"

#include <cuda_pipeline.h>

__global__ void copy(int *p, const int *in) {
    __shared__ int s[128];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 4; i++) {
        __pipeline_memcpy_async(&s[t], &in[i * 128 + t], 4); // reported: the last round still reads
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[127 - t];
    }
    p[t] = sum;
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
