// A value is taken from a lane that has returned.
// lesson: chapters/10-warps/README.md, What the hardware does
// expect: undefined
#include "../mistake.h"

__global__ void next(int *out, const int *in, int n) { // the next element, 0 behind the last
    int lane = threadIdx.x;
#ifdef MISTAKE
    if (lane >= n) return;
    int v = in[lane];
#else
    int v = lane < n ? in[lane] : 0;
#endif
    int other = __shfl_down_sync(0xffffffffu, v, 1);
    if (lane < n && other > v) out[lane] = other;
}

int main() {
    int *in = counting(32), *out = zeros(32);
    next<<<1, 32>>>(out, in, 20);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 19) == 0);
    return 0;
}
