// At the edges, the writing phase uses the reading phase's condition.
// lesson: chapters/02-coalescing/transpose.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"

__global__ void transpose(float *out, const float *in, int rows, int cols) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    int r = 16 * blockIdx.y + y, c = 16 * blockIdx.x + x;
    tile[y][x] = r < rows && c < cols ? in[r * cols + c] : 0;
    __syncthreads();
    int to_r = 16 * blockIdx.x + y, to_c = 16 * blockIdx.y + x;
#ifdef MISTAKE
    bool is_inside = r < rows && c < cols;
#else
    bool is_inside = to_r < cols && to_c < rows;
#endif
    if (is_inside) out[to_r * rows + to_c] = tile[x][y]; // reported
}

int main() {
    int rows = 20, cols = 5;
    float *in = counting<float>(rows * cols), *out = zeros<float>(rows * cols);
    transpose<<<dim3(1, 2), dim3(16, 16)>>>(out, in, rows, cols);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 1) == 5);
    return 0;
}
