// A matrix of which the last rows lie beyond the block's shared memory.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    fill(a, A, 1), fill(b, 2 * B, 1);
    __syncthreads();
    begin();
    multiply(d, matrix(b + B), matrix(a));
    commit();
    wait();
    put(out, d);
}

int main() {
    run(product);
    return 0;
}
