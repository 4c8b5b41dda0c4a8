// A reduction uses the mask of an earlier match, though some of its lanes do other work meanwhile.
// lesson: chapters/10-warps/warp_aggregate.md, Hint 3
// expect: invalid member mask
#include "../mistake.h"

__global__ void sums(int *out, const int *keys, const int *values, int n) {
    int lane = threadIdx.x;
    unsigned peers = __match_any_sync(0xffffffffu, keys[lane] / 8);
#ifdef MISTAKE
    if (lane < n) {
        int v = __reduce_add_sync(peers, values[lane]); // reported
        if (lane == __ffs(peers) - 1) atomicAdd(&out[keys[lane] / 8], v);
    }
    out[32 + lane] = lane;
#else
    int v = __reduce_add_sync(peers, lane < n ? values[lane] : 0);
    if (lane == __ffs(peers) - 1) atomicAdd(&out[keys[lane] / 8], v);
#endif
}

int main() {
    int *in = counting(32), *out = zeros(64);
    sums<<<1, 32>>>(out, in, in, 20);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 2) == 16 + 17 + 18 + 19);
    return 0;
}
