// The fourth warp of a warpgroup ends before the product. (cudaErrorIllegalInstruction on an H100.)
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    fill(a, A, 1), fill(b, B, 1);
    __syncthreads();
    if (threadIdx.x >= 96) return;
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
