// wmma_gemm: the model solution. A block has 128 x 128 elements, each of its 8 warps 64 x 32: 4 x 2 fragments of sums, for 4 + 2
// that it loads. Rows of the pieces in shared memory are 16 bytes longer than they need be, so that eight rows begin in
// different banks. Pieces come by asynchronous copies, and have several buffers: while one is multiplied, the next are on their way.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

constexpr int SIDE = 16, BLOCK = 128, DEPTH = 64, THREADS = 256, BUFFERS = 3;
constexpr int DOWN = 4, ACROSS = 2; // accumulator fragments of a warp
constexpr int VECTOR = 8;           // halves in 16 bytes: a lane's copy, and the padding of a row

struct pieces {
    half a[BLOCK][DEPTH + VECTOR], b[DEPTH][BLOCK + VECTOR];
};
constexpr int BYTES = BUFFERS * sizeof(pieces);

// Starts copying the thread's part of a piece. Sizes are multiples of 16, so 8 halves are inside the matrix or
// outside together. Outside, it reads nothing and stores zeros.
template <int ROWS, int PITCH>
__device__ void send(half (&piece)[ROWS][PITCH], const half *matrix, int top, int left, int rows, int cols) {
    constexpr int ACROSS_ROW = PITCH / VECTOR - 1;
#pragma unroll
    for (int i = 0; i < ROWS * ACROSS_ROW / THREADS; i++) {
        int e = threadIdx.x + i * THREADS, row = e / ACROSS_ROW, col = e % ACROSS_ROW * VECTOR;
        bool inside = top + row < rows && left + col < cols;
        const half *from = inside ? matrix + (size_t)(top + row) * cols + left + col : matrix;
        __pipeline_memcpy_async(&piece[row][col], from, 16, inside ? 0 : 16);
    }
}

__global__ void __launch_bounds__(THREADS)
    product(float *c, const half *__restrict__ a, const half *__restrict__ b, int n, int k, int m) {
    extern __shared__ __align__(32) unsigned char memory[];
    pieces *buffer = reinterpret_cast<pieces *>(memory);
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK, warp = threadIdx.x / 32, count = (k + DEPTH - 1) / DEPTH;
    int y = warp / 4 * DOWN * SIDE, x = warp % 4 * ACROSS * SIDE;

    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> sum[DOWN][ACROSS];
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++) wmma::fill_fragment(sum[i][j], 0.0f);

    auto fetch = [&](int p) {
        if (p < count) {
            send(buffer[p % BUFFERS].a, a, top, p * DEPTH, n, k);
            send(buffer[p % BUFFERS].b, b, p * DEPTH, left, k, m);
        }
        __pipeline_commit(); // one copy group per piece, empty after the last piece
    };
    for (int p = 0; p < BUFFERS - 1; p++) fetch(p);
    for (int p = 0; p < count; p++) {
        __pipeline_wait_prior(BUFFERS - 2); // piece p has arrived
        __syncthreads();                    // all threads' copies have arrived, and no thread reads piece p - 1 any more
        fetch(p + BUFFERS - 1);
        pieces &now = buffer[p % BUFFERS];
#pragma unroll
        for (int l = 0; l < DEPTH; l += SIDE) {
            wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, half, wmma::row_major> fa[DOWN];
            wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, half, wmma::row_major> fb[ACROSS];
#pragma unroll
            for (int i = 0; i < DOWN; i++) wmma::load_matrix_sync(fa[i], &now.a[y + i * SIDE][l], DEPTH + VECTOR);
#pragma unroll
            for (int j = 0; j < ACROSS; j++) wmma::load_matrix_sync(fb[j], &now.b[l][x + j * SIDE], BLOCK + VECTOR);
#pragma unroll
            for (int i = 0; i < DOWN; i++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++) wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
        }
    }

#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            int row = top + y + i * SIDE, col = left + x + j * SIDE;
            if (row < n && col < m)
                wmma::store_matrix_sync(c + (size_t)row * m + col, sum[i][j], m, wmma::mem_row_major);
        }
}

extern "C" void wmma_gemm(float *c, const half *a, const half *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    product<<<grid, THREADS, BYTES>>>(c, a, b, n, k, m);
}
