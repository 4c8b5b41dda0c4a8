// expect: RTE
// Vectors also where a row is not aligned, or the vector reaches past its end.

constexpr int BLOCK = 128, DEPTH = 8, THREADS = 256;
constexpr int PAD =
    4; // shifts each row of the transposed tile of A by 4 banks, which avoids bank conflicts of its stores

struct tiles {
    float a[DEPTH][BLOCK + PAD], b[DEPTH][BLOCK]; // a is transposed: a[l] is a column
};

// Returns four elements of a row, with zeros outside the matrix. One load if the row is aligned.
__device__ float4 fetch(const float *matrix, int row, int col, int rows, int cols) {
    const float *p = matrix + (size_t)row * cols + col;
    if (row < rows) return *reinterpret_cast<const float4 *>(p);
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
__device__ void finish(float *c, int row, int col, int rows, int cols, float4 sum, float alpha, float beta) {
    float *p = c + (size_t)row * cols + col;
    if (row >= rows) return;
    if (col + 3 < cols && cols % 4 == 0) {
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

__device__ void load8(float (&to)[8], const float *low, const float *high) {
    float4 l = *reinterpret_cast<const float4 *>(low), h = *reinterpret_cast<const float4 *>(high);
    to[0] = l.x, to[1] = l.y, to[2] = l.z, to[3] = l.w;
    to[4] = h.x, to[5] = h.y, to[6] = h.z, to[7] = h.w;
}

__device__ void put(tiles &to, int t, float4 a, float4 b) {
    int a_row = t / 2, a_col = t % 2 * 4;
    to.a[a_col][a_row] = a.x;
    to.a[a_col + 1][a_row] = a.y;
    to.a[a_col + 2][a_row] = a.z;
    to.a[a_col + 3][a_row] = a.w;
    *reinterpret_cast<float4 *>(&to.b[t / 32][t % 32 * 4]) = b;
}

__global__ void __launch_bounds__(THREADS, 2)
    sgemm_kernel(float *c, const float *__restrict__ a, const float *__restrict__ b, int n, int k, int m,
                 float alpha, float beta) {
    __shared__ tiles buffer[2];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK;
    const int y = warp / 4 * 64 + lane / 4 * 4; // rows y ... y+3 and y+32 ... y+35 of the block's tile
    const int x = warp % 4 * 32 + lane % 4 * 4; // columns x ... x+3 and x+16 ... x+19

    float sum[8][8] = {};
    int now = 0;
    if (k > 0)
        put(buffer[0], t, fetch(a, top + t / 2, t % 2 * 4, n, k), fetch(b, t / 32, left + t % 32 * 4, k, m));
    __syncthreads();
    for (int start = 0; start < k; start += DEPTH) {
        const int next = start + DEPTH;
        float4 next_a, next_b;
        if (next < k) {
            next_a = fetch(a, top + t / 2, next + t % 2 * 4, n, k);
            next_b = fetch(b, next + t / 32, left + t % 32 * 4, k, m);
        }
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            float column[8], row[8];
            load8(column, &buffer[now].a[l][y], &buffer[now].a[l][y + 32]);
            load8(row, &buffer[now].b[l][x], &buffer[now].b[l][x + 16]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] += column[i] * row[j];
        }
        if (next < k) {
            put(buffer[now ^ 1], t, next_a, next_b); // last read before the previous barrier
            __syncthreads();
        }
        now ^= 1;
    }

#pragma unroll
    for (int i = 0; i < 8; i++) {
        int row = top + y + i % 4 + i / 4 * 32;
        finish(c, row, left + x, n, m, make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]), alpha, beta);
        finish(c, row, left + x + 16, n, m, make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]), alpha,
               beta);
    }
}

extern "C" void sgemm(float *c, const float *a, const float *b, int n, int k, int m, float alpha,
                      float beta) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    sgemm_kernel<<<grid, THREADS>>>(c, a, b, n, k, m, alpha, beta);
}
