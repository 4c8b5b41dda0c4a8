// expect: PART
// A lane a row, four elements at a time: fewer requests, and lanes still lie a row apart.

constexpr int THREADS = 256;

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows) {
    int r = blockIdx.x * THREADS + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    int i = offsets[r], end = offsets[r + 1];
    for (; i < end && i % 4; i++) sum += values[i] * x[columns[i]];
    for (; i + 4 <= end; i += 4) {
        float4 v = *reinterpret_cast<const float4 *>(values + i);
        int4 c = *reinterpret_cast<const int4 *>(columns + i);
        sum += v.x * x[c.x] + v.y * x[c.y] + v.z * x[c.z] + v.w * x[c.w];
    }
    for (; i < end; i++) sum += values[i] * x[columns[i]];
    y[r] = sum;
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows > 0) multiply<<<(rows + THREADS - 1) / THREADS, THREADS>>>(y, offsets, columns, values, x, rows);
}
