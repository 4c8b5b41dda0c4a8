// A shuffle makes lanes meet; it does not order what they did in memory.
#include "../programs/check.h"

__global__ void exchange(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    int v = __shfl_xor_sync(~0u, t, 3);

    out[t] = s[t ^ 1] + v;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaMemset(p, 0, 128));
    exchange<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
