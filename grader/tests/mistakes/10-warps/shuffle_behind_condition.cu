// Only the lanes that add come to the shuffle; the lane that they ask does not.
// lesson: chapters/10-warps/README.md, By hand: segmented_sum
// expect: invalid member mask
#include "../mistake.h"

__global__ void sums(int *out, const int *in, int last) {
    int lane = threadIdx.x, v = in[lane];
    for (int d = 1; d < 32; d *= 2) {
#ifdef MISTAKE
        if (lane + d <= last) v += __shfl_down_sync(0xffffffffu, v, d); // reported
#else
        int other = __shfl_down_sync(0xffffffffu, v, d);
        if (lane + d <= last) v += other;
#endif
    }
    out[lane] = v;
}

int main() {
    int *in = counting(32), *out = zeros(32);
    sums<<<1, 32>>>(out, in, 19);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 190);
    return 0;
}
