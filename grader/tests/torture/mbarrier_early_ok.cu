// A thread arrives at an mbarrier after it has written, and then waits.
#include "../programs/check.h"
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void run(int *out) {
    __shared__ barrier b;
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t == 0) init(&b, 128);
    __syncthreads();
    s[t] = t;
    barrier::arrival_token token = b.arrive();
    b.wait(std::move(token));
    out[t] = s[t ^ 64];
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    run<<<1, 128>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
