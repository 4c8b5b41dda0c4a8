// Rows have a pitch, and the temporary has room for rows without one.
// lesson: chapters/02-coalescing/pitched_rows.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"

__global__ void copy(float *to, int to_pitch, const float *from, int from_pitch, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) to[blockIdx.x * to_pitch + c] = from[blockIdx.x * from_pitch + c]; // reported
}

int main() {
    int rows = 4, cols = 33, pitch = 40;
#ifdef MISTAKE
    float *temporary = zeros<float>(rows * cols);
#else
    float *temporary = zeros<float>(rows * pitch);
#endif
    float *in = counting<float>(rows * cols);
    copy<<<rows, 32>>>(temporary, pitch, in, cols, cols);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
