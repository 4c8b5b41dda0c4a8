// Threads write where a product under way reads.
// lesson: chapters/14-tensor-cores/README.md, What the hardware does
// expect: missing wait
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) half a[2 * 64 * 16], b[2 * 8 * 16];
    float sum[4] = {};
    fill(a, 64 * 16, 1), fill(b, 8 * 16, 1);
    show();
    __syncthreads();
    begin();
    multiply(sum, matrix(a), matrix(b));
    commit();
#ifndef MISTAKE
    wait();
#endif
    __syncthreads();
    fill(a, 64 * 16, 2);
    wait();
    for (int i = 0; i < 4; i++) out[i * 128 + threadIdx.x % 128] = sum[i];
}

int main() {
    float *out = zeros<float>(512);
    product<<<1, 128>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 16);
    return 0;
}
