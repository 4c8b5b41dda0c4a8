// Only the block's own elements are loaded; the two beside them stay what they were.
// lesson: chapters/03-tiling/window_sum.md, Hint 2
// expect: uninitialized
#include "../mistake.h"

__global__ void window(int *out, const int *in, int n) {
    __shared__ int tile[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t + 1] = i < n ? in[i] : 0;
#ifndef MISTAKE
    if (t == 0) tile[0] = i ? in[i - 1] : 0;
    if (t == 63) tile[65] = i + 1 < n ? in[i + 1] : 0;
#endif
    __syncthreads();
    if (i < n) out[i] = tile[t] + tile[t + 1] + tile[t + 2]; // reported
}

int main() {
    int *in = counting(100), *out = zeros(100), host[100];
    window<<<2, 64>>>(out, in, 100);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[64] == 192);
    return 0;
}
