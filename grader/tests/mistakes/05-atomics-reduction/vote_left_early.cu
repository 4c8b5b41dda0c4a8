// Some lanes vote in a loop that others have left for other work.
// lesson: chapters/05-atomics-reduction/count_equal.md, Hint 3
// expect: invalid member mask
#include "../mistake.h"

__global__ void count(int *out, const int *in, int n) {
    int found = 0;
#ifdef MISTAKE
    for (int i = threadIdx.x; i < n; i += 32) found += __popc(__ballot_sync(0xffffffffu, in[i] % 2)); // reported
#else
    for (int i = threadIdx.x; i - (int)threadIdx.x < n; i += 32) found += __popc(__ballot_sync(0xffffffffu, i < n && in[i] % 2));
#endif
    out[threadIdx.x] = found;
}

int main() {
    int *in = counting(40), *out = zeros(32);
    count<<<1, 32>>>(out, in, 40);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 20);
    return 0;
}
