// expect: PART
// No tile, no conflicts; and no coalesced writes.

__global__ void transpose_kernel(int *__restrict__ out, const int *__restrict__ in, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose_padded(int *out, const int *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(32, 8);
    dim3 grid((cols + 31) / 32, (rows + 7) / 8);
    transpose_kernel<<<grid, block>>>(out, in, rows, cols);
}
