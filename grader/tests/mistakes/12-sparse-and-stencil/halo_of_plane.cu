// A plane's halo is never stored, and the threads at its ends read it.
// lesson: chapters/12-sparse-and-stencil/README.md, Neighbours
// expect: uninitialized
#include "../mistake.h"

__global__ void plane(int *out, const int *in) {
    __shared__ int tile[66];
    int x = threadIdx.x;
    tile[x + 1] = in[x];
#ifndef MISTAKE
    if (x < 2) tile[65 * x] = 0;
#endif
    __syncthreads();
    out[x] = tile[x] + tile[x + 2];
}

int main() {
    int *in = counting(64), *out = zeros(64), host[64];
    plane<<<1, 64>>>(out, in);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[63] == 62);
    return 0;
}
