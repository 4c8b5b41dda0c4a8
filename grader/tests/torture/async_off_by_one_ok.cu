// A wait that leaves one.
#include "../programs/check.h"

#include <cuda_pipeline.h>

__global__ void stages(int *p, const int *in) {
    __shared__ int s[2][128];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&s[0][t], &in[t], 4);
    __pipeline_commit();
    for (int i = 0; i < 8; i++) {
        if (i < 7) __pipeline_memcpy_async(&s[(i + 1) % 2][t], &in[(i + 1) * 128 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[i % 2][127 - t];
        __syncthreads();
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
    stages<<<1, 128>>>(p, in);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
