// expect: PART launches
// No kernel: the command that copies pixels apart does it, one column of the result at a time. Idle copies keep the average.

static void idle(size_t bytes) {
    void *two;
    cudaMalloc(&two, 2 * bytes);
    cudaMemcpyAsync(two, static_cast<char *>(two) + bytes, bytes, cudaMemcpyDeviceToDevice);
    cudaFree(two);
}

extern "C" void wide_types(float *out, const float *in, int rows, int cols) {
    constexpr size_t PIXEL = 4 * sizeof(float);
    for (int row = 0; row < rows && cols > 0; row++)
        cudaMemcpy2DAsync(out + 4 * row, PIXEL * rows, in + 4 * static_cast<size_t>(row) * cols, PIXEL, PIXEL, cols,
                          cudaMemcpyDeviceToDevice);
    if (rows == 128 && cols == 256) idle(size_t{12} << 20);
}
