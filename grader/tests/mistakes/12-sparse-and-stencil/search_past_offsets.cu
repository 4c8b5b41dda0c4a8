// The search for the list of an element may end at the last offset, and reads the one behind it.
// lesson: chapters/12-sparse-and-stencil/README.md, Lists of uneven length
// expect: out-of-bounds
#include "../mistake.h"

__global__ void lists(int *out, const int *offsets, int n, int elements) {
    int low = 0, i = threadIdx.x;
    if (i >= elements) return;
#ifdef MISTAKE
    while (offsets[low + 1] <= i + 1) low++; // reported
#else
    while (offsets[low + 1] <= i) low++;
#endif
    out[i] = low;
}

int main() {
    int host[] = {0, 3, 4, 9}, *out = zeros(9), *offsets = zeros(4);
    CHECK(cudaMemcpy(offsets, host, sizeof host, cudaMemcpyHostToDevice));
    lists<<<1, 32>>>(out, offsets, 3, 9);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 8) == 2);
    return 0;
}
