// The tile has no room for the halo, so the last windows read behind it.
// lesson: chapters/03-tiling/window_sum.md, Hint 2
// expect: out-of-bounds
#include "../mistake.h"

#ifdef MISTAKE
constexpr int ROOM = 64;
#else
constexpr int ROOM = 66;
#endif
__global__ void window(int *out, const int *in, int n) {
    __shared__ int tile[ROOM];
    int t = threadIdx.x;
    for (int k = t; k < 66; k += 64) tile[k] = k && k <= n ? in[k - 1] : 0; // reported
    __syncthreads();
    out[t] = tile[t] + tile[t + 1] + tile[t + 2];
}

int main() {
    int *in = counting(64), *out = zeros(64);
    window<<<1, 64>>>(out, in, 64);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 63) == 125);
    return 0;
}
