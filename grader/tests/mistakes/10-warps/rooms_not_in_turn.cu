// One room for the warps' counts: a warp that is ahead writes over what others still read.
// lesson: solutions/10-warps/compact-ladder.md, compact-3-shuffles.cu
// expect: data race in shared memory
#include "../mistake.h"

#ifdef MISTAKE
constexpr int ROOMS = 1;
#else
constexpr int ROOMS = 2;
#endif
__global__ void places(int *out, const int *in) {
    __shared__ int count[ROOMS][2];
    int t = threadIdx.x, before = 0;
    for (int round = 0; round < 4; round++) {
        unsigned votes = __ballot_sync(0xffffffffu, in[64 * round + t] % 3 == 0);
        if (t % 32 == 0) count[round % ROOMS][t / 32] = __popc(votes); // reported
        __syncthreads();
        out[64 * round + t] = before + (t >= 32 ? count[round % ROOMS][0] : 0);
        before += count[round % ROOMS][0] + count[round % ROOMS][1];
    }
}

int main() {
    int *in = counting(256), *out = zeros(256);
    places<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 255) == 75);
    return 0;
}
