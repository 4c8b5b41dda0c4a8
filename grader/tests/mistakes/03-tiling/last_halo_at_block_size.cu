// In the last block, the right-hand halo is not where blockDim.x says, and nothing fills it.
// lesson: chapters/03-tiling/window_sum.md, Hint 3
// expect: uninitialized
#include "../mistake.h"

__global__ void window(int *out, const int *in, int n) {
    __shared__ int tile[66];
    int t = threadIdx.x, first = blockIdx.x * 64, i = first + t;
#ifdef MISTAKE
    if (i < n) tile[t + 1] = in[i];
    if (t == 0) tile[0] = i ? in[i - 1] : 0;
    if (t == 63) tile[65] = i + 1 < n ? in[i + 1] : 0;
#else
    for (int k = t; k < 66; k += 64) {
        int at = first + k - 1;
        tile[k] = at >= 0 && at < n ? in[at] : 0;
    }
#endif
    __syncthreads();
    if (i < n) out[i] = tile[t] + tile[t + 1] + tile[t + 2]; // reported
}

int main() {
    int *in = counting(100), *out = zeros(100), host[100];
    window<<<2, 64>>>(out, in, 100);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[99] == 197);
    return 0;
}
