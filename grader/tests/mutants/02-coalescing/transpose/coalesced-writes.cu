// expect: PART
// Right, but the reads come from 32 rows.

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols) {
    int out_col = blockIdx.x * blockDim.x + threadIdx.x;
    int out_row = blockIdx.y * blockDim.y + threadIdx.y;
    if (out_row < cols && out_col < rows)
        out[(size_t)out_row * rows + out_col] = in[(size_t)out_col * cols + out_row];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(32, 8);
    dim3 grid((rows + block.x - 1) / block.x, (cols + block.y - 1) / block.y);
    transpose_kernel<<<grid, block>>>(out, in, rows, cols);
}
