// expect: PART
// Eight lanes a row: full for short rows, and long ones keep the 24 others waiting.

constexpr int THREADS = 256, LANES = 8, TEAMS = THREADS / LANES, MAX_BLOCKS = 1056; // eight for each of 132 SMs
constexpr unsigned ALL = 0xffffffff;

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows) {
    int lane = threadIdx.x % LANES;
    for (int base = blockIdx.x * TEAMS; base < rows; base += gridDim.x * TEAMS) {
        int r = base + threadIdx.x / LANES;
        float sum = 0.0f;
        int end = r < rows ? offsets[r + 1] : 0;
        for (int i = (r < rows ? offsets[r] : 0) + lane; i < end; i += LANES) sum += values[i] * x[columns[i]];
        for (int d = LANES / 2; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
        if (lane == 0 && r < rows) y[r] = sum;
    }
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    int blocks = min((rows + TEAMS - 1) / TEAMS, MAX_BLOCKS);
    if (blocks > 0) multiply<<<blocks, THREADS>>>(y, offsets, columns, values, x, rows);
}
