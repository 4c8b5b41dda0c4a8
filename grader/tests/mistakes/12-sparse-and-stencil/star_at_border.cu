// The star reaches out of the box at its border; what lies outside is 0.
// lesson: chapters/12-sparse-and-stencil/stencil_planes.md, stencil_planes: planes that slide along a column
// expect: out-of-bounds
#include "../mistake.h"

__global__ void star(int *out, const int *in, int height, int width) {
    int x = threadIdx.x, y = threadIdx.y, i = y * width + x, sum = in[i];
#ifdef MISTAKE
    sum += in[i - 1] + in[i + 1] + in[i - width] + in[i + width]; // reported
#else
    sum += x > 0 ? in[i - 1] : 0;
    sum += x + 1 < width ? in[i + 1] : 0;
    sum += y > 0 ? in[i - width] : 0;
    sum += y + 1 < height ? in[i + width] : 0;
#endif
    out[i] = sum;
}

int main() {
    int *in = counting(64), *out = zeros(64);
    star<<<1, dim3(8, 8)>>>(out, in, 8, 8);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 9);
    return 0;
}
