// Step 2: row x is rotated by x words within its 32 words, with the effect of a pad.

constexpr int TILE = 32, ROWS_AT_ONCE = 8;

__global__ void transpose_kernel(int *__restrict__ out, const int *__restrict__ in, int rows, int cols) {
    __shared__ int tile[TILE][TILE];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE)
        if (col < cols && row + k < rows)
            tile[threadIdx.y + k][(threadIdx.y + k + threadIdx.x) % TILE] =
                in[(size_t)(row + k) * cols + col];
    __syncthreads();

    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE)
        if (out_col < rows && out_row + k < cols)
            out[(size_t)(out_row + k) * rows + out_col] =
                tile[threadIdx.x][(threadIdx.x + threadIdx.y + k) % TILE];
}

extern "C" void swizzle(int *out, const int *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(TILE, ROWS_AT_ONCE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_kernel<<<grid, block>>>(out, in, rows, cols);
}
