// Only the lanes that take part in a round come to its shuffle.
// lesson: chapters/11-scan-and-sort/README.md, What a scan is
// expect: invalid member mask
#include "../mistake.h"

__global__ void scan(int *out, const int *in) {
    int lane = threadIdx.x, most = in[lane] % 7;
    for (int distance = 1; distance < 32; distance *= 2) {
#ifdef MISTAKE
        if (lane >= distance) most = max(most, __shfl_up_sync(0xffffffffu, most, distance)); // reported
#else
        int other = __shfl_up_sync(0xffffffffu, most, distance);
        if (lane >= distance) most = max(most, other);
#endif
    }
    out[lane] = most;
}

int main() {
    int *in = counting(32), *out = zeros(32);
    scan<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 5) == 5);
    return 0;
}
