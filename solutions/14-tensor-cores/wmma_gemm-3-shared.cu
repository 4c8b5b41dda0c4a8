// wmma_gemm, step 3: a block has 128 x 128 elements, and pieces of both matrices in shared memory. Each of its 8 warps has
// 64 x 32 elements: 4 x 2 fragments of sums, for 4 + 2 fragments that it loads.

#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

constexpr int SIDE = 16, BLOCK = 128, DEPTH = 32, THREADS = 256;
constexpr int DOWN = 4, ACROSS = 2; // accumulator fragments of a warp
constexpr int VECTOR = 8;           // halves in 16 bytes

// A piece of `matrix`, zeros outside. Sizes are multiples of 16, so that 8 halves are inside or outside together.
template <int ROWS, int COLS>
__device__ void fetch(half (&piece)[ROWS][COLS], const half *matrix, int top, int left, int rows, int cols) {
    for (int e = threadIdx.x; e < ROWS * COLS / VECTOR; e += THREADS) {
        int row = e / (COLS / VECTOR), col = e % (COLS / VECTOR) * VECTOR;
        bool inside = top + row < rows && left + col < cols;
        const uint4 *from = reinterpret_cast<const uint4 *>(matrix + (size_t)(top + row) * cols + left + col);
        *reinterpret_cast<uint4 *>(&piece[row][col]) = inside ? *from : uint4{0, 0, 0, 0};
    }
}

__global__ void __launch_bounds__(THREADS) product(float *c, const half *a, const half *b, int n, int k, int m) {
    __shared__ __align__(32) half a_piece[BLOCK][DEPTH], b_piece[DEPTH][BLOCK];
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK, warp = threadIdx.x / 32;
    int y = warp / 4 * DOWN * SIDE, x = warp % 4 * ACROSS * SIDE;
    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> sum[DOWN][ACROSS];
    for (int i = 0; i < DOWN; i++)
        for (int j = 0; j < ACROSS; j++) wmma::fill_fragment(sum[i][j], 0.0f);
    for (int start = 0; start < k; start += DEPTH) {
        fetch(a_piece, a, top, start, n, k);
        fetch(b_piece, b, start, left, k, m);
        __syncthreads();
        for (int l = 0; l < DEPTH; l += SIDE) {
            wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, half, wmma::row_major> fa;
            wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, half, wmma::row_major> fb[ACROSS];
            for (int j = 0; j < ACROSS; j++) wmma::load_matrix_sync(fb[j], &b_piece[l][x + j * SIDE], BLOCK);
            for (int i = 0; i < DOWN; i++) {
                wmma::load_matrix_sync(fa, &a_piece[y + i * SIDE][l], DEPTH);
                for (int j = 0; j < ACROSS; j++) wmma::mma_sync(sum[i][j], fa, fb[j], sum[i][j]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < DOWN; i++)
        for (int j = 0; j < ACROSS; j++) {
            int row = top + y + i * SIDE, col = left + x + j * SIDE;
            if (row < n && col < m)
                wmma::store_matrix_sync(c + (size_t)row * m + col, sum[i][j], m, wmma::mem_row_major);
        }
}

extern "C" void wmma_gemm(float *c, const half *a, const half *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    product<<<grid, THREADS>>>(c, a, b, n, k, m);
}
