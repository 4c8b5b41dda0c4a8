// Step 4: tiles of 64 x 64, and a thread makes eight elements of a column: a value of B, once it is in a register, serves
// eight products.

constexpr int BLOCK = 64, DEPTH = 8, ROWS = 8, THREADS = BLOCK * BLOCK / ROWS;

__device__ float blend(float sum, const float *old, float alpha, float beta) {
    return beta == 0.0f ? alpha * sum : alpha * sum + beta * *old; // if beta is 0, C is not read
}

__global__ void sgemm_kernel(float *c, const float *__restrict__ a, const float *__restrict__ b, int n, int k,
                             int m, float alpha, float beta) {
    __shared__ float a_tile[BLOCK][DEPTH], b_tile[DEPTH][BLOCK];
    const int t = threadIdx.x;
    const int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK;
    const int x = t % BLOCK, y = t / BLOCK * ROWS;

    float sum[ROWS] = {};
    for (int start = 0; start < k; start += DEPTH) { // both pieces have as many elements as the block has threads
        int row = top + t / DEPTH, l = start + t % DEPTH;
        a_tile[t / DEPTH][t % DEPTH] = row < n && l < k ? a[(size_t)row * k + l] : 0.0f;
        l = start + t / BLOCK;
        b_tile[t / BLOCK][x] = l < k && left + x < m ? b[(size_t)l * m + left + x] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            float value = b_tile[l][x];
#pragma unroll
            for (int i = 0; i < ROWS; i++) sum[i] += a_tile[y + i][l] * value;
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int row = top + y + i, col = left + x;
        float *out = &c[(size_t)row * m + col];
        if (row < n && col < m) *out = blend(sum[i], out, alpha, beta);
    }
}

extern "C" void sgemm(float *c, const float *a, const float *b, int n, int k, int m, float alpha,
                      float beta) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    sgemm_kernel<<<grid, THREADS>>>(c, a, b, n, k, m, alpha, beta);
}
