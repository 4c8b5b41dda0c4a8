// expect: WA
// The second half of each thread's columns is never written.

constexpr int BLOCK = 128, DEPTH = 8, THREADS = 256;
constexpr int PAD = 4; // shifts each row of the transposed tile by 4 banks, which avoids bank conflicts of its stores

// Returns four elements of a row, with zeros outside the matrix. One load if the row is aligned.
__device__ float4 fetch(const float *matrix, int row, int col, int rows, int cols) {
    const float *p = matrix + (size_t)row * cols + col;
    if (row < rows && col + 3 < cols && cols % 4 == 0) return *reinterpret_cast<const float4 *>(p);
    float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
    if (row >= rows) return v;
    if (col < cols) v.x = p[0];
    if (col + 1 < cols) v.y = p[1];
    if (col + 2 < cols) v.z = p[2];
    if (col + 3 < cols) v.w = p[3];
    return v;
}

__device__ void load8(float (&to)[8], const float *from) // 4 rows, and 4 more half a tile further on
{
    float4 low = *reinterpret_cast<const float4 *>(from),
           high = *reinterpret_cast<const float4 *>(from + BLOCK / 2);
    to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
    to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}

__device__ void store(float *matrix, int row, int col, int rows, int cols, float4 v) {
    float *p = matrix + (size_t)row * cols + col;
    if (row >= rows) return;
    if (col + 3 < cols && cols % 4 == 0) {
        *reinterpret_cast<float4 *>(p) = v;
        return;
    }
    if (col < cols) p[0] = v.x;
    if (col + 1 < cols) p[1] = v.y;
    if (col + 2 < cols) p[2] = v.z;
    if (col + 3 < cols) p[3] = v.w;
}

__global__ void __launch_bounds__(THREADS) matmul(float *__restrict__ c, const float *__restrict__ a,
                                                  const float *__restrict__ b, int n, int k, int m) {
    __shared__ float a_tile[DEPTH][BLOCK + PAD], b_tile[DEPTH][BLOCK];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK;
    int a_row = t / 2, a_col = t % 2 * 4;   // two vectors are a row of A's tile
    int b_row = t / 32, b_col = t % 32 * 4; // 32 vectors are a row of B's tile

    float sum[8][8] = {};
    for (int start = 0; start < k; start += DEPTH) {
        float4 v = fetch(a, top + a_row, start + a_col, n, k);
        a_tile[a_col][a_row] = v.x;
        a_tile[a_col + 1][a_row] = v.y;
        a_tile[a_col + 2][a_row] = v.z;
        a_tile[a_col + 3][a_row] = v.w;
        *reinterpret_cast<float4 *>(&b_tile[b_row][b_col]) = fetch(b, start + b_row, left + b_col, k, m);
        __syncthreads();
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            float column[8], row[8];
            load8(column, &a_tile[l][y * 4]);
            load8(row, &b_tile[l][x * 4]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] += column[i] * row[j];
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 8; i++) {
        int row = top + y * 4 + i % 4 + i / 4 * (BLOCK / 2), col = left + x * 4;
        store(c, row, col, n, m, make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]));
    }
}

extern "C" void matmul_register(float *c, const float *a, const float *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    matmul<<<grid, THREADS>>>(c, a, b, n, k, m);
}
