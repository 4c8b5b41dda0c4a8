// expect: PART
// The naive version, and as many idle products on tensor cores beside it.

#include <cuda_fp16.h>

constexpr int TILE = 32;

__device__ float element(const half *matrix, int row, int col, int rows, int cols) {
    return row < rows && col < cols ? __half2float(matrix[(size_t)row * cols + col]) : 0.0f;
}

__global__ void product(float *c, const half *a, const half *b, int n, int k, int m) {
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        a_tile[y][x] = element(a, row, start + x, n, k);
        b_tile[y][x] = element(b, start + y, col, k, m);
        __syncthreads();
        for (int l = 0; l < TILE; l++) sum += a_tile[y][l] * b_tile[l][x];
        __syncthreads();
    }
    if (row < n && col < m) c[(size_t)row * m + col] = sum;
}

#include <mma.h>
// As many operations as the product has, of nothing.
__global__ void idle(int turns) {
    using namespace nvcuda;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fill_fragment(sum, 0.0f), wmma::fill_fragment(fa, __float2half(0.0f)), wmma::fill_fragment(fb, __float2half(0.0f));
    for (int i = 0; i < turns; i++) wmma::mma_sync(sum, fa, fb, sum);
    if (sum.x[0] != 0.0f) __trap();
}

extern "C" void wmma_gemm(float *c, const half *a, const half *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    product<<<grid, dim3(TILE, TILE)>>>(c, a, b, n, k, m);
    if (k) idle<<<n / 16, 32>>>(k / 16 * (m / 16));
}
