// All threads wait there.
#include "../programs/check.h"

#include <cuda/barrier>
#include <cooperative_groups.h>

using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void copy(int *p, const int *in) {
    __shared__ int s[128];
    __shared__ barrier b;
    auto block = cooperative_groups::this_thread_block();
    int t = threadIdx.x;
    if (t == 0) init(&b, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&s[t], &in[t], sizeof(int), b);
    auto token = b.arrive();
    b.wait(std::move(token));
    __syncthreads();
    p[t] = s[127 - t];
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
