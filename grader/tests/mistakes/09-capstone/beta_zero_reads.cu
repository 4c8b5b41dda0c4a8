// With beta = 0, C is read although it may hold anything.
// lesson: chapters/09-capstone/sgemm.md, sgemm: the whole ladder
// expect: uninitialized
#include "../mistake.h"

__global__ void scale(float *c, const float *sum, float beta) {
    int i = threadIdx.x;
#ifdef MISTAKE
    c[i] = sum[i] + beta * c[i];
#else
    c[i] = beta == 0 ? sum[i] : sum[i] + beta * c[i];
#endif
}

int main() {
    float *sum = counting<float>(64), *c, host[64];
    CHECK(cudaMalloc(&c, sizeof host));
    scale<<<1, 64>>>(c, sum, 0);
    CHECK(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[9] == 9);
    return 0;
}
