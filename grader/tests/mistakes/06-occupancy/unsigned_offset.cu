// The offset of the left neighbour is -1, in a sum with an unsigned index: 16 GB too far.
// lesson: chapters/06-occupancy/README.md, Index arithmetic
// expect: out-of-bounds
#include "../mistake.h"

#ifdef MISTAKE
using index_type = unsigned;
#else
using index_type = int;
#endif
__global__ void differences(int *out, const int *in) {
    index_type row = blockIdx.x * 4;
    int col = threadIdx.x, left = col > 0 ? -1 : 0;
    out[row + col] = in[row + col] - (in + col)[row + left]; // row 0 and left -1: 4 294 967 295
}

int main() {
    int *out = zeros(8), *in = zeros(8);
    differences<<<2, 4>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 0);
    return 0;
}
