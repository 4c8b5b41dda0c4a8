// expect: PART
// No lane idles: those whose row has ended go on, and what they add is 0.

constexpr int THREADS = 256;

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows) {
    int r = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0.0f;
    int from = r < rows ? offsets[r] : 0, length = r < rows ? offsets[r + 1] - from : 0, longest = length;
    for (int d = 16; d > 0; d /= 2) longest = max(longest, __shfl_xor_sync(0xffffffff, longest, d));
    for (int k = 0; k < longest; k++) {
        int i = k < length ? from + k : 0;
        sum += (k < length ? 1.0f : 0.0f) * values[i] * x[columns[i]];
    }
    if (r < rows) y[r] = sum;
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows > 0) multiply<<<(rows + THREADS - 1) / THREADS, THREADS>>>(y, offsets, columns, values, x, rows);
}
