// expect: PART
// Products side by side, but a lane adds up each row, however long.

constexpr int THREADS = 256, ROOM = 2048; // rows and products of a block per round

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows) {
    __shared__ float product[ROOM];
    int row = blockIdx.x * THREADS, r = row + threadIdx.x, last = min(row + THREADS, rows);
    int mine = r < rows ? offsets[r] : 0, next = r < rows ? offsets[r + 1] : 0;
    float sum = 0.0f;
    for (int base = offsets[row], end = offsets[last]; base < end; base += ROOM) {
#pragma unroll
        for (int k = 0; k < ROOM; k += THREADS) {
            int i = base + k + threadIdx.x;
            if (i < end) product[k + threadIdx.x] = values[i] * x[columns[i]];
        }
        __syncthreads();
        for (int i = max(mine, base), stop = min(next, base + ROOM); i < stop; i++) sum += product[i - base];
        __syncthreads();
    }
    if (r < rows) y[r] = sum;
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows > 0) multiply<<<(rows + THREADS - 1) / THREADS, THREADS>>>(y, offsets, columns, values, x, rows);
}
