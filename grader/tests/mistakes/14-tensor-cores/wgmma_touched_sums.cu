// Threads scale the sums between two products, without wgmma.fence before the second.
// lesson: chapters/14-tensor-cores/README.md, What the hardware does
// expect: missing fence
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
    wait();
    for (float &s : sum) s *= 0.5f;
#ifndef MISTAKE
    begin();
#endif
    multiply(sum, matrix(a), matrix(b));
    commit();
    wait();
    for (int i = 0; i < 4; i++) out[i * 128 + threadIdx.x % 128] = sum[i];
}

int main() {
    float *out = zeros<float>(512);
    product<<<1, 128>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 24);
    return 0;
}
