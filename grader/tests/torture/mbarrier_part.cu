// An mbarrier of half a block, and a thread that reads what the other half wrote; a loop of both.
#include "../programs/check.h"
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void run(int *out) {
    __shared__ barrier b[2];
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t < 2) init(&b[t], 64);
    __syncthreads();
    for (int i = 0; i < 6; i++) {
        s[t] = t + i;
        b[t / 64].arrive_and_wait();
        out[t] += s[t ^ 64];
        b[t / 64].arrive_and_wait();
    }
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    run<<<1, 128>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
