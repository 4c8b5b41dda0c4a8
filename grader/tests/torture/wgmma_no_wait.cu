// Results that are stored before anybody has waited for the product.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    fill(a, A, 1), fill(b, B, 1);
    __syncthreads();
    begin();
    multiply(d, matrix(a), matrix(b));
    commit();
    put(out, d);
}

int main() {
    run(product);
    return 0;
}
