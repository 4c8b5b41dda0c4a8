// Elements outside of the matrix are not filled in as zeros.
// lesson: chapters/03-tiling/matmul_tiled.md, Hint 3
// expect: uninitialized
#include "../mistake.h"

constexpr int T = 8;
__global__ void product(float *c, const float *a, const float *b, int n) { // n x n
    __shared__ float as[T][T], bs[T][T];
    int x = threadIdx.x, y = threadIdx.y;
#ifdef MISTAKE
    if (y < n && x < n) as[y][x] = a[y * n + x], bs[y][x] = b[y * n + x];
#else
    as[y][x] = y < n && x < n ? a[y * n + x] : 0;
    bs[y][x] = y < n && x < n ? b[y * n + x] : 0;
#endif
    __syncthreads();
    float sum = 0;
    for (int p = 0; p < T; p++) sum += as[y][p] * bs[p][x];
    if (y < n && x < n) c[y * n + x] = sum;
}

int main() {
    float *a = counting<float>(25), *c = zeros<float>(25), host[25];
    product<<<1, dim3(T, T)>>>(c, a, a, 5);
    CHECK(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 150);
    return 0;
}
