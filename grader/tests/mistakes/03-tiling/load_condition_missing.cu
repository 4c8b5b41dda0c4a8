// Threads with an element of C load elements that lie behind A's last row.
// lesson: chapters/03-tiling/matmul_tiled.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"

constexpr int T = 8;
__global__ void product(float *c, const float *a, const float *b, int n) { // n x n
    __shared__ float as[T][T], bs[T][T];
    int x = threadIdx.x, y = threadIdx.y;
#ifdef MISTAKE
    bool is_inside = true;
#else
    bool is_inside = y < n && x < n;
#endif
    as[y][x] = is_inside ? a[y * n + x] : 0; // reported
    bs[y][x] = y < n && x < n ? b[y * n + x] : 0;
    __syncthreads();
    float sum = 0;
    for (int p = 0; p < T; p++) sum += as[y][p] * bs[p][x];
    if (y < n && x < n) c[y * n + x] = sum;
}

int main() {
    float *a = counting<float>(25), *c = zeros<float>(25);
    product<<<1, dim3(T, T)>>>(c, a, a, 5);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(c) == 150);
    return 0;
}
