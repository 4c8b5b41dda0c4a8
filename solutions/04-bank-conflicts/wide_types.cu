// wide_types: the model solution. Whole pixels as 128-bit words, served eight lanes at a time; the rows are 33
// pixels long, so that eight pixels of a column lie in eight different groups of four banks.

constexpr int TILE = 32, ROWS_AT_ONCE = 8; // tune: ROWS_AT_ONCE 2 4 8 16 32

__global__ void transpose_kernel(float4 *__restrict__ out, const float4 *__restrict__ in, int rows,
                                 int cols) {
    __shared__ float4 tile[TILE][TILE + 1];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE)
        if (col < cols && row + k < rows)
            tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(row + k) * cols + col];
    __syncthreads();

    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE)
        if (out_col < rows && out_row + k < cols)
            out[(size_t)(out_row + k) * rows + out_col] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" void wide_types(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(TILE, ROWS_AT_ONCE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_kernel<<<grid, block>>>((float4 *)out, (const float4 *)in, rows, cols);
}
