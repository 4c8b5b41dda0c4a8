// Lanes look for equal keys with a mask of all lanes, in a branch that some don't take.
// lesson: chapters/10-warps/README.md, Lanes don't run in lockstep
// expect: invalid member mask
#include "../mistake.h"

__global__ void peers(int *out, const int *key) {
    int lane = threadIdx.x, k = key[lane];
#ifdef MISTAKE
    if (k % 2) out[lane] = __match_any_sync(0xffffffffu, k & 3); // reported
#else
    unsigned odd = __ballot_sync(0xffffffffu, k % 2);
    if (k % 2) out[lane] = __match_any_sync(odd, k & 3);
#endif
    else out[lane] = key[lane / 2] - 7;
}

int main() {
    int *out = zeros(32), *key = counting(32);
    peers<<<1, 32>>>(out, key);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 1) == 0x22222222);
    return 0;
}
