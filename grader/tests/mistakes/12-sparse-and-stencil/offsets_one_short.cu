// The list of offsets lacks its last entry, the end of the last row.
// lesson: chapters/12-sparse-and-stencil/spmv.md, spmv: a sparse matrix times a vector
// expect: out-of-bounds
#include "../mistake.h"

__global__ void longest(int *out, const int *offsets, const int *in) {
    int r = threadIdx.x, best = 0;
    for (int i = offsets[r]; i < offsets[r + 1]; i++) best = max(best, in[i]); // reported
    out[r] = best;
}

int main() {
    int *in = counting(64), *out = zeros(32), host[33];
    for (int r = 0; r <= 32; r++) host[r] = 2 * r;
#ifdef MISTAKE
    int entries = 32;
#else
    int entries = 33;
#endif
    int *offsets = zeros(entries);
    CHECK(cudaMemcpy(offsets, host, entries * sizeof(int), cudaMemcpyHostToDevice));
    longest<<<1, 32>>>(out, offsets, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 31) == 63);
    return 0;
}
