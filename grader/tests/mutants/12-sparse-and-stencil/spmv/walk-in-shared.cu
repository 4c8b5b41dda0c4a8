// expect: PART
// Values, columns and x are first copied to shared memory by the whole block, and then a lane walks along each row there.

constexpr int THREADS = 256, ROOM = 2048; // rows and products of a block per round

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows) {
    __shared__ float value[ROOM], factor[ROOM];
    int row = blockIdx.x * THREADS, r = row + threadIdx.x, last = min(row + THREADS, rows);
    int mine = r < rows ? offsets[r] : 0, next = r < rows ? offsets[r + 1] : 0;
    float sum = 0.0f;
    for (int base = offsets[row], end = offsets[last]; base < end; base += ROOM) {
#pragma unroll
        for (int k = 0; k < ROOM; k += THREADS) {
            int i = base + k + threadIdx.x;
            if (i < end) value[k + threadIdx.x] = values[i], factor[k + threadIdx.x] = x[columns[i]];
        }
        __syncthreads();
        for (int i = max(mine, base), stop = min(next, base + ROOM); i < stop; i++) sum += value[i - base] * factor[i - base];
        __syncthreads();
    }
    if (r < rows) y[r] = sum;
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows > 0) multiply<<<(rows + THREADS - 1) / THREADS, THREADS>>>(y, offsets, columns, values, x, rows);
}
