// Only threads with a window reach the barrier in the branch; the others go on to another barrier.
// lesson: chapters/03-tiling/window_sum.md, Hint 3
// expect: barrier error
#include "../mistake.h"

__global__ void window(int *out, const int *in, int n) {
    __shared__ int tile[66];
    int t = threadIdx.x;
    for (int k = t; k < 66; k += 64) tile[k] = k && k <= n ? in[k - 1] : 0;
#ifdef MISTAKE
    if (t < n) {
        __syncthreads();
        out[t] = tile[t] + tile[t + 1] + tile[t + 2];
    }
#else
    __syncthreads();
    if (t < n) out[t] = tile[t] + tile[t + 1] + tile[t + 2];
#endif
    __syncthreads(); // reported
    out[64 + t] = tile[63 - t];
}

int main() {
    int *in = counting(64), *out = zeros(128);
    window<<<1, 64>>>(out, in, 32);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 30) == 90);
    return 0;
}
