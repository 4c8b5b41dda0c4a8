// Half of a warp adds up with a mask of all lanes, while the others do other work.
// lesson: chapters/10-warps/README.md, Lanes don't run in lockstep
// expect: invalid member mask
#include "../mistake.h"

__global__ void sums(int *out) {
    int lane = threadIdx.x, value = lane;
#ifdef MISTAKE
    if (lane < 16) value = __reduce_add_sync(0xffffffffu, lane); // reported
#else
    if (lane < 16) value = __reduce_add_sync(0x0000ffffu, lane);
#endif
    else value *= out[lane] + 2;
    out[lane] = value;
}

int main() {
    int *out = zeros(32);
    sums<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 120 && element(out, 16) == 32);
    return 0;
}
