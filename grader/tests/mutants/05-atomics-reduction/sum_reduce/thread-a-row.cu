// expect: PART
// A thread adds up a row alone: nothing to reduce, and nothing coalesced.

__global__ void reduce(float *__restrict__ sums, const float *__restrict__ in, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int i = 0; i < cols; i++) sum += in[(size_t)r * cols + i];
    sums[r] = sum;
}

extern "C" void sum_reduce(float *sums, const float *in, int rows, int cols) {
    if (rows == 0) return;
    reduce<<<(rows + 63) / 64, 64>>>(sums, in, rows, cols);
}
