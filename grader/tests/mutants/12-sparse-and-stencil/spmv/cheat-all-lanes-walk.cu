// expect: PART
// No lane idles: all 32 walk along each of 32 rows, together.

constexpr int THREADS = 256;

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows) {
    int first = blockIdx.x * THREADS + threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
    float mine = 0.0f;
    for (int l = 0; l < 32 && first + l < rows; l++) {
        int r = first + l;
        float sum = 0.0f;
            for (int i = offsets[r]; i < offsets[r + 1]; i++) sum += values[i] * x[columns[i]];
        if (l == lane) mine = sum;
    }
    if (first + lane < rows) y[first + lane] = mine;
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows > 0) multiply<<<(rows + THREADS - 1) / THREADS, THREADS>>>(y, offsets, columns, values, x, rows);
}
