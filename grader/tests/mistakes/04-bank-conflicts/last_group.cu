// The last group has what is left, and the tree adds what nobody wrote.
// lesson: chapters/04-bank-conflicts/reduce_addressing.md, reduce_addressing: a tree whose warps work or rest as a whole
// expect: uninitialized
#include "../mistake.h"

__global__ void sums(int *out, const int *in, int n) {
    __shared__ int part[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
#ifdef MISTAKE
    if (i < n) part[t] = in[i];
#else
    part[t] = i < n ? in[i] : 0;
#endif
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

int main() {
    int *in = counting(100), *out = zeros(2), host[2];
    sums<<<2, 64>>>(out, in, 100);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] + host[1] == 4950);
    return 0;
}
