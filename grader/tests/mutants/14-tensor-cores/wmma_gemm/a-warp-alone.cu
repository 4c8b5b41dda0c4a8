// expect: PART
// Loads fragments from global memory for 64 x 64 elements per warp, and reads shared memory without need.

#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

constexpr int SIDE = 16, EACH = 4; // accumulator fragments of a warp in each dimension

// A warp computes 64 x 64 elements without other warps. Its reads of shared memory have no use.
__global__ void product(float *c, const half *a, const half *b, int n, int k, int m) {
    __shared__ volatile float show[32];
    int top = blockIdx.y * 64, left = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> sum[EACH][EACH];
    show[threadIdx.x] = 0.0f;
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) wmma::fill_fragment(sum[i][j], 0.0f);
    for (int l = 0; l < k; l += SIDE) {
        wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, half, wmma::row_major> fb[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            (void)show[threadIdx.x], (void)show[threadIdx.x]; // read, and not used
            wmma::load_matrix_sync(fb[j], b + (size_t)l * m + min(left + j * SIDE, m - SIDE), m);
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            wmma::load_matrix_sync(fa, a + (size_t)min(top + i * SIDE, n - SIDE) * k + l, k);
#pragma unroll
            for (int j = 0; j < EACH; j++) wmma::mma_sync(sum[i][j], fa, fb[j], sum[i][j]);
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            int row = top + i * SIDE, col = left + j * SIDE;
            if (row < n && col < m)
                wmma::store_matrix_sync(c + (size_t)row * m + col, sum[i][j], m, wmma::mem_row_major);
        }
}

extern "C" void wmma_gemm(float *c, const half *a, const half *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    product<<<dim3((m + 63) / 64, (n + 63) / 64), 32>>>(c, a, b, n, k, m);
}
