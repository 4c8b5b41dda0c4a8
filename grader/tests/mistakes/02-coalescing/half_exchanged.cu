// Indices and grid were exchanged, the test for the edges was not.
// lesson: chapters/02-coalescing/gemm_mapping.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"

__global__ void brighten(float *image, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
#ifdef MISTAKE
    if (column < rows && row < columns)
#else
    if (column < columns && row < rows)
#endif
        image[row * columns + column] *= 2; // reported
}

int main() {
    int rows = 5, columns = 40;
    float *image = counting<float>(rows * columns);
    brighten<<<dim3(2, 2), dim3(32, 4)>>>(image, rows, columns);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
