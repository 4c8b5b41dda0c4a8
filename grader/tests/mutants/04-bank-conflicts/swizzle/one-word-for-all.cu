// expect: PART shared_read_requests_total
// No conflicts: all lanes read every word, one after another, and each keeps its own.

constexpr int TILE = 32, ROWS_AT_ONCE = 8;

__global__ void transpose_kernel(int *__restrict__ out, const int *__restrict__ in, int rows, int cols) {
    __shared__ int tile[TILE][TILE];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE)
        if (col < cols && row + k < rows)
            tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(row + k) * cols + col];
    __syncthreads();

    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE) {
        int taken = 0;
        for (int l = 0; l < TILE; l++) {
            if (blockIdx.y * TILE + l >= rows || out_row + k >= cols) break;
            int v = tile[l][threadIdx.y + k]; // all lanes the same word: a broadcast
            if (threadIdx.x == l) taken = v;
        }
        if (out_col < rows && out_row + k < cols)
            out[(size_t)(out_row + k) * rows + out_col] = taken;
    }
}

extern "C" void swizzle(int *out, const int *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(TILE, ROWS_AT_ONCE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_kernel<<<grid, block>>>(out, in, rows, cols);
}
