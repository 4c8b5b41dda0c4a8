// cuda::pipeline: the consumer does not wait.
#include "../programs/check.h"

#include <cuda/pipeline>

__global__ void copy(int *p, const int *in) {
    __shared__ int s[128];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&s[t], &in[t], sizeof(int), pipe);
    pipe.producer_commit();
    __syncthreads();
    p[t] = s[127 - t];
    pipe.consumer_release();
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
