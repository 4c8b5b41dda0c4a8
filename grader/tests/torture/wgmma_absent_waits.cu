// A warp of a warpgroup goes round the second product and waits for the others behind it. (An H100 hangs.)
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    fill(a, A, 1), fill(b, B, 1);
    __syncthreads();
    begin();
    multiply(d, matrix(a), matrix(b));
    if (threadIdx.x >= 32) multiply(d, matrix(a), matrix(b));
    commit();
    wait();
    __syncthreads();
    put(out, d);
}

int main() {
    run(product);
    return 0;
}
