// transpose: out = in turned over its diagonal; in is rows x cols, out is cols x rows, both row by row.

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    // TODO: a warp reads 32 neighbours and writes to 32 different rows. Make both sides run along a row.
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return; // an empty grid is a launch error
    dim3 block(32, 8);
    dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    transpose_kernel<<<grid, block>>>(out, in, rows, cols);
}
