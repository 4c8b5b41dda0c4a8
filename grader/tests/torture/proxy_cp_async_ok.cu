// The same with the fence, behind the wait for the copies.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"
#include <cuda_pipeline.h>

__device__ __half ones[A];

__global__ void product(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    for (int i = threadIdx.x; i < A; i += 128) ones[i] = __float2half(1);
    __syncthreads();
    fill(b, B, 1);
    __pipeline_memcpy_async(a + threadIdx.x * 8, ones + threadIdx.x * 8, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    begin();
    multiply(d, matrix(a), matrix(b));
    commit();
    wait();
    put(out, d);
}

int main() {
    run(product);
    return 0;
}
