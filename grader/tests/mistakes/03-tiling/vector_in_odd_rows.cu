// Whole vectors are taken where the row does not begin at a multiple of 16 bytes.
// lesson: chapters/03-tiling/matmul_register.md, Hint 3
// expect: misaligned
#include "../mistake.h"

__global__ void fetch(float *out, const float *a, int columns) {
    __shared__ float4 tile[4][4];
    int x = threadIdx.x, y = threadIdx.y;
    const float *from = a + y * columns + 4 * x;
#ifdef MISTAKE
    bool is_vector = 4 * x + 4 <= columns;
#else
    bool is_vector = 4 * x + 4 <= columns && columns % 4 == 0;
#endif
    float part[4];
    for (int k = 0; k < 4; k++) part[k] = !is_vector && 4 * x + k < columns ? from[k] : 0;
    if (is_vector) tile[y][x] = *reinterpret_cast<const float4 *>(from); // reported
    else tile[y][x] = {part[0], part[1], part[2], part[3]};
    __syncthreads();
    float4 v = tile[x][y];
    out[4 * y + x] = v.x + v.y + v.z + v.w;
}

int main() {
    float *a = counting<float>(4 * 15), *out = zeros<float>(16);
    fetch<<<1, dim3(4, 4)>>>(out, a, 15);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 6);
    return 0;
}
