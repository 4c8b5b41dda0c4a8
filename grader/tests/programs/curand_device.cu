// cuRAND's device functions.
#include "check.h"
#include <curand_kernel.h>
__global__ void pi(unsigned long long seed, int n, unsigned *hits) {
    curandState s;
    curand_init(seed, blockIdx.x * blockDim.x + threadIdx.x, 0, &s);
    unsigned h = 0;
    for (int i = 0; i < n; i++) {
        float x = curand_uniform(&s), y = curand_uniform(&s);
        h += x * x + y * y <= 1;
    }
    atomicAdd(hits, h);
}
__global__ void philox(float *out) {
    curandStatePhilox4_32_10_t s;
    curand_init(1234, threadIdx.x, 0, &s);
    float4 v = curand_normal4(&s);
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
int main() {
    unsigned *h, r;
    CHECK(cudaMalloc(&h, 4));
    CHECK(cudaMemset(h, 0, 4));
    pi<<<4, 64>>>(42, 200, h);
    CHECK(cudaMemcpy(&r, h, 4, cudaMemcpyDeviceToHost));
    double p = 4.0 * r / (256 * 200);
    printf("%d\n", p > 3.1 && p < 3.18);
    float *o, f[64], s = 0;
    CHECK(cudaMalloc(&o, 256));
    philox<<<1, 64>>>(o);
    CHECK(cudaMemcpy(f, o, 256, cudaMemcpyDeviceToHost));
    for (float x : f) s += x;
    printf("%d\n", s > -64 && s < 64);
}
