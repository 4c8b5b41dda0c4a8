// The same with the wait; and products that add to each other need none between them.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    fill(a, A, 1), fill(b, B, 1);
    __syncthreads();
    begin();
    multiply(d, matrix(a), matrix(b));
    multiply(d, matrix(a), matrix(b));
    commit();
    wait();
    put(out, d);
}

int main() {
    run(product);
    return 0;
}
