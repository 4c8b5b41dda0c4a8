// sgemm: the model solution. A block owns 128 x 128 elements of C, each of its 4 warps 64 x 64, each thread 8 x
// 16 in registers. Pieces of 16 steps of k lie in shared memory twice: while one buffer is multiplied, the next
// piece is on its way into the other: B by asynchronous copies, A, which is turned, through registers. One
// barrier a piece. Matrices of whole tiles have a kernel without a test for the border.

#include <cuda_pipeline.h>

constexpr int BLOCK = 128, DEPTH = 16, THREADS = 128;
constexpr int ACROSS = 16; // columns of C per thread
constexpr int EACH = BLOCK * DEPTH / 4 / THREADS; // vectors of each piece that a thread loads
// Shifts each row of the transposed tile of A by 4 banks, which avoids bank conflicts of its stores.
constexpr int PAD = 4;

struct tiles {
    float a[DEPTH][BLOCK + PAD], b[DEPTH][BLOCK]; // a is transposed: a[l] is a column
};

// Returns four elements of a row, with zeros outside the matrix. One load if the row is aligned. WHOLE: all are inside and
// aligned.
template <bool WHOLE> __device__ float4 fetch(const float *matrix, int row, int col, int rows, int cols) {
    const float *p = matrix + (size_t)row * cols + col;
    if (WHOLE || (row < rows && col + 3 < cols && cols % 4 == 0)) return *reinterpret_cast<const float4 *>(p);
    float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
    if (row >= rows) return v;
    if (col < cols) v.x = p[0];
    if (col + 1 < cols) v.y = p[1];
    if (col + 2 < cols) v.z = p[2];
    if (col + 3 < cols) v.w = p[3];
    return v;
}

__device__ float blend(float sum, const float *old, float alpha, float beta) {
    return beta == 0.0f ? alpha * sum : alpha * sum + beta * *old; // if beta is 0, C is not read
}

// Computes four results of a row.
template <bool WHOLE>
__device__ void finish(float *c, int row, int col, int rows, int cols, float4 sum, float alpha, float beta) {
    float *p = c + (size_t)row * cols + col;
    if (!WHOLE && row >= rows) return;
    if (WHOLE || (col + 3 < cols && cols % 4 == 0)) {
        float4 old = beta == 0.0f ? make_float4(0.0f, 0.0f, 0.0f, 0.0f) : *reinterpret_cast<float4 *>(p);
        *reinterpret_cast<float4 *>(p) =
            make_float4(blend(sum.x, &old.x, alpha, beta), blend(sum.y, &old.y, alpha, beta),
                        blend(sum.z, &old.z, alpha, beta), blend(sum.w, &old.w, alpha, beta));
        return;
    }
    if (col < cols) p[0] = blend(sum.x, p, alpha, beta);
    if (col + 1 < cols) p[1] = blend(sum.y, p + 1, alpha, beta);
    if (col + 2 < cols) p[2] = blend(sum.z, p + 2, alpha, beta);
    if (col + 3 < cols) p[3] = blend(sum.w, p + 3, alpha, beta);
}

__device__ void load4(float *to, const float *from) {
    float4 v = *reinterpret_cast<const float4 *>(from);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// The thread's share of a piece of A, which stays in registers until put_a.
template <bool WHOLE>
__device__ void fetch_a(float4 (&to)[EACH], const float *a, int top, int start, int n, int k) {
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int e = threadIdx.x + i * THREADS; // 4 vectors are a row of the piece
        to[i] = fetch<WHOLE>(a, top + e / 4, start + e % 4 * 4, n, k);
    }
}

__device__ void put_a(tiles &to, const float4 (&from)[EACH]) {
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int e = threadIdx.x + i * THREADS, row = e / 4, col = e % 4 * 4;
        to.a[col][row] = from[i].x;
        to.a[col + 1][row] = from[i].y;
        to.a[col + 2][row] = from[i].z;
        to.a[col + 3][row] = from[i].w;
    }
}

// Starts copying the thread's share of a piece of B into the buffer.
template <bool WHOLE>
__device__ void send_b(tiles &to, const float *b, int left, int start, int k, int m) {
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int e = threadIdx.x + i * THREADS, row = e / 32, col = e % 32 * 4;
        float4 *place = reinterpret_cast<float4 *>(&to.b[row][col]);
        if (WHOLE)
            __pipeline_memcpy_async(place, b + (size_t)(start + row) * m + left + col, sizeof *place);
        else
            *place = fetch<false>(b, start + row, left + col, k, m);
    }
    __pipeline_commit();
}

template <bool WHOLE>
__global__ void __launch_bounds__(THREADS, 2)
    sgemm_kernel(float *c, const float *__restrict__ a, const float *__restrict__ b, int n, int k, int m,
                 float alpha, float beta) {
    __shared__ tiles buffer[2];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK;
    const int down = lane / 8 * 2 + lane / 2 % 2, across = lane / 4 % 2 * 2 + lane % 2; // lanes 8 x 4
    const int y = warp / 2 * 64 + down * 4;   // rows y ... y+3 and y+32 ... y+35 of the block's tile
    const int x = warp % 2 * 64 + across * 4; // columns x ... x+3, x+16 ..., x+32 ..., x+48 ...

    float sum[8][ACROSS] = {};
    float4 next[EACH];
    int now = 0;
    if (k > 0) {
        send_b<WHOLE>(buffer[0], b, left, 0, k, m);
        fetch_a<WHOLE>(next, a, top, 0, n, k);
        put_a(buffer[0], next);
        __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int start = 0; start < k; start += DEPTH) {
        const bool more = start + DEPTH < k;
        if (more) { // the other buffer was last read before the previous barrier
            fetch_a<WHOLE>(next, a, top, start + DEPTH, n, k);
            send_b<WHOLE>(buffer[now ^ 1], b, left, start + DEPTH, k, m);
        }
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            float column[8], row[ACROSS];
#pragma unroll
            for (int i = 0; i < 8; i += 4) load4(&column[i], &buffer[now].a[l][y + i * 8]);
#pragma unroll
            for (int j = 0; j < ACROSS; j += 4) load4(&row[j], &buffer[now].b[l][x + j * 4]);
#pragma unroll
            for (int j = 0; j < ACROSS; j++) // down the columns: ptxas then reuses more operands for two products
#pragma unroll
                for (int i = 0; i < 8; i++) sum[i][j] += column[i] * row[j];
        }
        if (more) {
            put_a(buffer[now ^ 1], next);
            __pipeline_wait_prior(0);
            __syncthreads();
        }
        now ^= 1;
    }

#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j += 4)
            finish<WHOLE>(c, top + y + i % 4 + i / 4 * 32, left + x + j * 4, n, m,
                          make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]), alpha, beta);
}

extern "C" void sgemm(float *c, const float *a, const float *b, int n, int k, int m, float alpha,
                      float beta) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    if (n % BLOCK == 0 && m % BLOCK == 0 && k % DEPTH == 0)
        sgemm_kernel<true><<<grid, THREADS>>>(c, a, b, n, k, m, alpha, beta);
    else
        sgemm_kernel<false><<<grid, THREADS>>>(c, a, b, n, k, m, alpha, beta);
}
