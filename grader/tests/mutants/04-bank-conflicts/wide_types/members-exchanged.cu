// expect: WA
// Swaps red and blue.

constexpr int TILE = 32, ROWS_AT_ONCE = 8;

__global__ void transpose_kernel(float4 *__restrict__ out, const float4 *__restrict__ in, int rows,
                                 int cols) {
    __shared__ float r[TILE][TILE + 1], g[TILE][TILE + 1], b[TILE][TILE + 1], a[TILE][TILE + 1];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE)
        if (col < cols && row + k < rows) {
            float4 v = in[(size_t)(row + k) * cols + col];
            int x = threadIdx.x, y = threadIdx.y + k;
            r[y][x] = v.z, g[y][x] = v.y, b[y][x] = v.x, a[y][x] = v.w;
        }
    __syncthreads();

    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE)
        if (out_col < rows && out_row + k < cols) {
            int x = threadIdx.x, y = threadIdx.y + k;
            out[(size_t)(out_row + k) * rows + out_col] = make_float4(r[x][y], g[x][y], b[x][y], a[x][y]);
        }
}

extern "C" void wide_types(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(TILE, ROWS_AT_ONCE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_kernel<<<grid, block>>>((float4 *)out, (const float4 *)in, rows, cols);
}
