// The plane ahead is loaded without a condition, and behind the last one there is none.
// lesson: chapters/12-sparse-and-stencil/stencil_planes.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"

__global__ void planes(int *out, const int *in, int depth) {
    int x = threadIdx.x, before = 0, now = in[x];
    for (int z = 0; z < depth; z++) {
#ifdef MISTAKE
        int ahead = in[64 * (z + 1) + x]; // reported
#else
        int ahead = z + 1 < depth ? in[64 * (z + 1) + x] : 0;
#endif
        out[64 * z + x] = before + ahead;
        before = now, now = ahead;
    }
}

int main() {
    int *in = counting(256), *out = zeros(256);
    planes<<<1, 64>>>(out, in, 4);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 255) == 191);
    return 0;
}
