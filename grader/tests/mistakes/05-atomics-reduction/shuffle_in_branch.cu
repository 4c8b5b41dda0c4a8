// Lanes beyond the end do not come to the shuffle, although the mask names them.
// lesson: chapters/05-atomics-reduction/quiz.md, 4. Find the error
// expect: invalid member mask
#include "../mistake.h"

__global__ void sum(int *out, const int *in, int n) {
    int i = threadIdx.x, v = 0;
#ifdef MISTAKE
    if (i < n) {
        v = in[i];
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d); // reported
    }
#else
    if (i < n) v = in[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
#endif
    out[i] = v;
}

int main() {
    int *in = counting(32), *out = zeros(32);
    sum<<<1, 32>>>(out, in, 20);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 190);
    return 0;
}
