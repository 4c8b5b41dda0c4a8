// __activemask() is taken for the lanes whose condition holds; it names those that run together.
// lesson: chapters/10-warps/quiz.md, 5. Find the error
// missed: only with --schedule hostile, where it finds half of the lanes; the mask is legal in itself
#include "../mistake.h"

__global__ void positives(int *out, const int *in, int n) {
    int i = threadIdx.x;
#ifndef MISTAKE
    unsigned here = __ballot_sync(0xffffffffu, i < n);
#endif
    if (i < n) {
#ifdef MISTAKE
        unsigned here = __activemask();
#endif
        unsigned votes = __ballot_sync(here, in[i] > 0);
        out[i] = __popc(votes);
    }
}

int main() {
    int *in = counting(32), *out = zeros(32);
    positives<<<1, 32>>>(out, in, 20);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 19);
    return 0;
}
