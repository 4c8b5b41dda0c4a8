// Two stages, and a wait that leaves the product under way whose stage is written next.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    for (int i = 0; i < 4; i++) {
        fill(a + i % 2 * A, A, i), fill(b + i % 2 * B, B, 1);
        __syncthreads();
        begin();
        multiply(d, matrix(a + i % 2 * A), matrix(b + i % 2 * B));
        commit();
        wait<2>();
        __syncthreads();
    }
    wait();
    put(out, d);
}

int main() {
    run(product);
    return 0;
}
