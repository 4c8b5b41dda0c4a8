// A barrier stands in place of the wait for the product.
// lesson: chapters/14-tensor-cores/quiz.md, 6. Find the error: a product by a warpgroup
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
#ifdef MISTAKE
    __syncthreads();
#else
    wait();
#endif
    for (int i = 0; i < 4; i++) out[i * 128 + threadIdx.x % 128] = sum[i];
}

int main() {
    float *out = zeros<float>(512);
    product<<<1, 128>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 16);
    return 0;
}
