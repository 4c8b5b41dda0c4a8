// expect: PART
// Products first, and a lane adds up its row four at a time: fewer instructions, and 31 lanes wait as before.

constexpr int THREADS = 256, ROOM = 2048; // rows and products of a block per round

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows) {
    __shared__ __align__(16) float product[ROOM];
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
        int i = max(mine, base) - base, stop = min(next, base + ROOM) - base;
        for (; i < stop && i % 4; i++) sum += product[i];
        for (; i + 4 <= stop; i += 4) {
            float4 p = *reinterpret_cast<const float4 *>(product + i);
            sum += p.x + p.y + p.z + p.w;
        }
        for (; i < stop; i++) sum += product[i];
        __syncthreads();
    }
    if (r < rows) y[r] = sum;
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows > 0) multiply<<<(rows + THREADS - 1) / THREADS, THREADS>>>(y, offsets, columns, values, x, rows);
}
