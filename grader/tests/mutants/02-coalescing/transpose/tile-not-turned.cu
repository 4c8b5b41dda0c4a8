// expect: RTE
// Transposes the tiles, but not the elements within a tile.

constexpr int TILE = 32;
constexpr int ROWS_AT_ONCE = 8; // 256 threads, 4 elements each: four loads are under way before the barrier

__global__ void transpose_kernel(float *__restrict__ out, const float *__restrict__ in, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];

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
            out[(size_t)(out_row + k) * rows + out_col] = tile[threadIdx.y + k][threadIdx.x];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(TILE, ROWS_AT_ONCE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_kernel<<<grid, block>>>(out, in, rows, cols);
}
