// expect: PART
// Tiles of 128 x 128 and 8 x 8 sums a thread, by multiply-adds of lanes: all of it but tensor cores.

#include <cuda_fp16.h>

constexpr int BLOCK = 128, DEPTH = 8, EACH = 8; // elements of a thread in each dimension

// Computes 128 x 128 elements of c in registers, 8 x 8 per thread, as in chapter 03, without tensor cores.
__global__ void __launch_bounds__(256) product(float *c, const half *a, const half *b, int n, int k, int m) {
    __shared__ __align__(16) float a_piece[DEPTH][BLOCK + 4], b_piece[DEPTH][BLOCK];
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK, t = threadIdx.x, y = t / 16 * EACH, x = t % 16 * 4;
    float sum[EACH][EACH] = {};
    for (int start = 0; start < k; start += DEPTH) {
        for (int e = t; e < BLOCK * DEPTH; e += 256) {
            int row = e / DEPTH, l = e % DEPTH;
            a_piece[l][row] = top + row < n ? __half2float(a[(size_t)(top + row) * k + start + l]) : 0.0f;
        }
        for (int e = t; e < BLOCK * DEPTH; e += 256) {
            int l = e / BLOCK, col = e % BLOCK;
            b_piece[l][col] = left + col < m ? __half2float(b[(size_t)(start + l) * m + left + col]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            float4 p = *(float4 *)&a_piece[l][y], q = *(float4 *)&a_piece[l][y + 4];
            float4 r = *(float4 *)&b_piece[l][x], s = *(float4 *)&b_piece[l][x + 64];
            float u[EACH] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w}, v[EACH] = {r.x, r.y, r.z, r.w, s.x, s.y, s.z, s.w};
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++) sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            int row = top + y + i, col = left + x + j % 4 + j / 4 * 64;
            if (row < n && col < m) c[(size_t)row * m + col] = sum[i][j];
        }
}

extern "C" void wmma_gemm(float *c, const half *a, const half *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    product<<<dim3((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK), 256>>>(c, a, b, n, k, m);
}
