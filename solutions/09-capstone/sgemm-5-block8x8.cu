// Step 5: tiles of 128 x 128, and a thread makes 8 x 8 elements, 16 apart in both directions: 16 values from the tiles serve 64
// products.

constexpr int BLOCK = 128, DEPTH = 8, SIDE = 8, APART = BLOCK / SIDE, THREADS = APART * APART;
constexpr int EACH = BLOCK * DEPTH / THREADS; // elements of a piece that a thread loads
// Shifts each row of the transposed tile of A by 4 banks, which avoids bank conflicts of its stores.
constexpr int PAD = 4;

__device__ float blend(float sum, const float *old, float alpha, float beta) {
    return beta == 0.0f ? alpha * sum : alpha * sum + beta * *old; // if beta is 0, C is not read
}

__global__ void __launch_bounds__(THREADS, 2)
    sgemm_kernel(float *c, const float *__restrict__ a, const float *__restrict__ b, int n, int k, int m,
                 float alpha, float beta) {
    __shared__ float a_tile[DEPTH][BLOCK + PAD], b_tile[DEPTH][BLOCK]; // a_tile is transposed: a_tile[l] is a column
    const int t = threadIdx.x;
    const int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK;
    const int x = t % APART, y = t / APART;

    float sum[SIDE][SIDE] = {};
    for (int start = 0; start < k; start += DEPTH) {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            int i = t + e * THREADS, row = top + i / DEPTH, l = start + i % DEPTH;
            a_tile[i % DEPTH][i / DEPTH] = row < n && l < k ? a[(size_t)row * k + l] : 0.0f;
            int down = start + i / BLOCK, col = left + i % BLOCK;
            b_tile[i / BLOCK][i % BLOCK] = down < k && col < m ? b[(size_t)down * m + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            float column[SIDE], row[SIDE];
#pragma unroll
            for (int i = 0; i < SIDE; i++) column[i] = a_tile[l][y + i * APART], row[i] = b_tile[l][x + i * APART];
#pragma unroll
            for (int i = 0; i < SIDE; i++)
#pragma unroll
                for (int j = 0; j < SIDE; j++) sum[i][j] += column[i] * row[j];
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < SIDE; i++) {
        int row = top + y + i * APART;
        float *out = c + (size_t)row * m;
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            int col = left + x + j * APART;
            if (row < n && col < m) out[col] = blend(sum[i][j], &out[col], alpha, beta);
        }
    }
}

extern "C" void sgemm(float *c, const float *a, const float *b, int n, int k, int m, float alpha,
                      float beta) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    sgemm_kernel<<<grid, THREADS>>>(c, a, b, n, k, m, alpha, beta);
}
