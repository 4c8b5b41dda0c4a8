// Blocks draw the number of their part with a compare-and-swap of block scope.
// lesson: chapters/11-scan-and-sort/README.md, By hand: look_back
// expect: is atomic only to threads of its own block
#include "../mistake.h"

__device__ int draw(int *next) {
    for (int seen = 0;;) {
#ifdef MISTAKE
        int found = atomicCAS_block(next, seen, seen + 1); // reported
#else
        int found = atomicCAS(next, seen, seen + 1);
#endif
        if (found == seen) return found;
        seen = found;
    }
}
__global__ void parts(int *out, int *next) { out[draw(next)] = 1; }

int main() {
    int *out = zeros(4), *next = zeros(1);
    parts<<<4, 1>>>(out, next);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 1);
    return 0;
}
