// Step 2: a thread owns 8 elements of a column of C. A value of B is loaded once for the eight: 9 shared
// loads for 8 products.

constexpr int BLOCK = 64, DEPTH = 8, ROWS = 8; // 64 x 8 threads
// tune: BLOCK 32 64 128
// tune: DEPTH 4 8 16 if BLOCK * DEPTH <= 1024
// tune: ROWS 2 4 8 16 if ROWS * DEPTH == BLOCK

__global__ void matmul(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b, int n,
                       int k, int m) {
    __shared__ float a_tile[BLOCK][DEPTH], b_tile[DEPTH][BLOCK];
    int x = threadIdx.x % BLOCK, y = threadIdx.x / BLOCK;
    int top = blockIdx.y * BLOCK, col = blockIdx.x * BLOCK + x;
    int a_row = threadIdx.x / DEPTH, a_col = threadIdx.x % DEPTH;

    float sum[ROWS] = {};
    for (int start = 0; start < k; start += DEPTH) {
        a_tile[a_row][a_col] =
            top + a_row < n && start + a_col < k ? a[(size_t)(top + a_row) * k + start + a_col] : 0.0f;
        b_tile[y][x] = start + y < k && col < m ? b[(size_t)(start + y) * m + col] : 0.0f;
        __syncthreads();
        for (int l = 0; l < DEPTH; l++) {
            float value = b_tile[l][x];
#pragma unroll
            for (int i = 0; i < ROWS; i++) sum[i] += a_tile[y * ROWS + i][l] * value;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (top + y * ROWS + i < n && col < m) c[(size_t)(top + y * ROWS + i) * m + col] = sum[i];
}

extern "C" void matmul_register(float *c, const float *a, const float *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    matmul<<<grid, BLOCK * DEPTH>>>(c, a, b, n, k, m);
}
