// A full mask in code that only some lanes reach, while the others do other work.
// lesson: chapters/10-warps/README.md, What the hardware does
// expect: invalid member mask
#include "../mistake.h"

__global__ void compact(int *out, const int *in) {
    int lane = threadIdx.x, v = in[lane], place = -1;
#ifdef MISTAKE
    if (v % 3 == 0) place = __popc(__ballot_sync(0xffffffffu, true) & ((1u << lane) - 1)); // reported
#else
    unsigned votes = __ballot_sync(0xffffffffu, v % 3 == 0);
    if (v % 3 == 0) place = __popc(votes & ((1u << lane) - 1));
#endif
    if (place >= 0) out[place] = v;
    else out[63 - lane] = v;
}

int main() {
    int *in = counting(32), *out = zeros(64);
    compact<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 1) == 3);
    return 0;
}
