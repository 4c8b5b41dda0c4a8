// The first product is added to sums that the kernel has not set.
// lesson: chapters/14-tensor-cores/README.md, What the hardware does
// expect: adds a matrix product to sums that the kernel has not set
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) half a[2 * 64 * 16], b[2 * 8 * 16];
#ifdef MISTAKE
    float sum[4];
#else
    float sum[4] = {};
#endif
    fill(a, 64 * 16, 1), fill(b, 8 * 16, 1);
    show();
    __syncthreads();
    begin();
    multiply(sum, matrix(a), matrix(b));
    commit();
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
