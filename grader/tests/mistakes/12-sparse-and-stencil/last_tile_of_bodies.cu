// The last tile is not full, and its other places still hold the tile before; here it is also the first.
// lesson: chapters/12-sparse-and-stencil/nbody.md, Hint 1
// expect: uninitialized
#include "../mistake.h"

__global__ void pull(float *out, const float *x, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
#ifdef MISTAKE
    int end = 64;
#else
    int end = n;
#endif
    if (t < n) tile[t] = x[t];
    __syncthreads();
    for (int j = 0; j < end; j++) sum += tile[j];
    out[t] = sum;
}

int main() {
    float *x = counting<float>(50), *out = zeros<float>(64), host[64];
    pull<<<1, 64>>>(out, x, 50);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 1225);
    return 0;
}
