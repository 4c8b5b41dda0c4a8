// Products read matrices that nothing shows them: the fence stands before the stores to one of them.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    fill(a, A, 1);
    for (int i = threadIdx.x; i < B; i += blockDim.x) b[i] = __float2half(1);
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
