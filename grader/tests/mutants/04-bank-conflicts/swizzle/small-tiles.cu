// expect: PART
// Tiles of 16 x 16 fit with their pad; but a warp is two rows of 16, and the pad of one makes these collide.

constexpr int TILE = 16;

__global__ void transpose_kernel(int *__restrict__ out, const int *__restrict__ in, int rows, int cols) {
    __shared__ int tile[TILE][TILE + 1];
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (col < cols && row < rows) tile[threadIdx.y][threadIdx.x] = in[(size_t)row * cols + col];
    __syncthreads();
    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    if (out_col < rows && out_row < cols)
        out[(size_t)out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y];
}

extern "C" void swizzle(int *out, const int *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(TILE, TILE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_kernel<<<grid, block>>>(out, in, rows, cols);
}
