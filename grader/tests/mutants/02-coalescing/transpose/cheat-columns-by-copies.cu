// expect: PART write_amplification
// No kernel transposes: a copy beside the kernels moves each row of `in` into a column of `out`.
__global__ void nothing() {}

extern "C" void transpose(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    nothing<<<1, 32>>>();
    for (int r = 0; r < rows; r++)
        cudaMemcpy2DAsync(out + r, rows * sizeof(float), in + (size_t)r * cols, sizeof(float), sizeof(float), cols,
                          cudaMemcpyDeviceToDevice);
}
