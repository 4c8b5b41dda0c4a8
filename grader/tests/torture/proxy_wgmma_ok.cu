// Matrices that are shown to products: by the threads that wrote them; by others, behind a barrier; by one fence for two matrices.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__device__ void show() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void write(__half *s, int n, int from, int threads) {
    for (int i = threadIdx.x - from; i < n && i >= 0; i += threads) s[i] = __float2half(1);
}
__device__ void product(float *out, const __half *a, const __half *b) {
    float d[4] = {0};
    begin();
    multiply(d, matrix(a), matrix(b));
    commit();
    wait();
    put(out, d);
    __syncthreads();
}
__global__ void by_writers(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    write(a, A, 0, 128), write(b, B, 0, 128);
    show();
    __syncthreads();
    product(out, a, b);
}
__global__ void by_readers(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    write(a, A, 0, 128), write(b, B, 0, 128);
    __syncthreads();
    asm volatile("fence.proxy.async;" ::: "memory");
    product(out, a, b);
}
// Two warps write, the others multiply with them.
__global__ void by_some(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    if (threadIdx.x >= 64) write(a, A, 64, 64), write(b, B, 64, 64), show();
    asm volatile("bar.sync 1, 128;" ::: "memory");
    product(out, a, b);
}
// What was written anew is shown anew.
__global__ void again(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    for (int i = 0; i < 3; i++) {
        write(a, A, 0, 128), write(b, B, 0, 128);
        show();
        __syncthreads();
        product(out, a, b);
    }
}

int main() {
    run(by_writers);
    run(by_readers);
    run(by_some);
    run(again);
    return 0;
}
