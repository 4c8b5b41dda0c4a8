// Warps that fill a buffer and warps that empty it, each waiting for the others.
#include "../programs/check.h"
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void run(int *out) {
    __shared__ barrier full, empty;
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    if (t == 0) {
        init(&full, 128);
        init(&empty, 128);
    }
    __syncthreads();
    if (t < 64) {
        for (int i = 0; i < 5; i++) {
            empty.arrive_and_wait();
            s[t] = t * i;
            full.arrive_and_wait();
        }
    } else {
        (void)empty.arrive();
        for (int i = 0; i < 5; i++) {
            full.arrive_and_wait();
            sum += s[127 - t];
            if (i < 4) (void)empty.arrive();
        }
        out[t] = sum;
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
