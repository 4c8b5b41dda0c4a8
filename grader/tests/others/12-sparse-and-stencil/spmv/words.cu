// A word at a time in place of four: lanes read neighbouring words, so that less sectors of x come twice.

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int GROUPS = 2;
constexpr int SHARE = 4 * GROUPS * THREADS; // elements of a block
constexpr int LONG = 32;
constexpr unsigned ALL = 0xffffffff;

// The last row that begins at element i or before.
__device__ int row_of(int i, const int *offsets, int rows) {
    int low = 0, lane = threadIdx.x % 32;
    while (rows > 1) {
        int step = (rows + 31) / 32, r = low + lane * step;
        int k = __popc(__ballot_sync(ALL, lane * step < rows && offsets[r] <= i)) - 1;
        low += k * step;
        rows = min(step, rows - k * step);
    }
    return low;
}

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows, int nonzeros) {
    __shared__ float room[SHARE];
    __shared__ int late[SHARE / LONG + 1], lates, found;
    int begin = blockIdx.x * SHARE, end = min(begin + SHARE, nonzeros);
    int c[4 * GROUPS];
    float v[4 * GROUPS];
#pragma unroll
    for (int k = 0; k < 4 * GROUPS; k++) {
        int i = begin + k * THREADS + threadIdx.x;
        if (i < end) c[k] = columns[i], v[k] = values[i];
    }
    if (threadIdx.x < 32) {
        int r = row_of(begin, offsets, rows);
        found = r, lates = 0;
    }
#pragma unroll
    for (int k = 0; k < 4 * GROUPS; k++)
        if (begin + k * THREADS + threadIdx.x < end) room[k * THREADS + threadIdx.x] = v[k] * x[c[k]];
    __syncthreads();

    const float *product = room - begin;
    for (int r = found + threadIdx.x; r < rows && offsets[r] < end; r += THREADS) {
        int first = offsets[r], last = offsets[r + 1], i = max(first, begin), stop = min(last, end);
        if (stop - i >= LONG) {
            late[atomicAdd(&lates, 1)] = r;
            continue;
        }
        float sum = 0.0f;
        for (; i < stop; i++) sum += product[i];
        if (first < begin || last > end) atomicAdd(&y[r], sum);
        else if (first < last) y[r] = sum;
    }
    __syncthreads();

    for (int k = threadIdx.x / 32; k < lates; k += WARPS) {
        int r = late[k], first = offsets[r], last = offsets[r + 1], stop = min(last, end);
        float sum = 0.0f;
        for (int i = max(first, begin) + threadIdx.x % 32; i < stop; i += 32) sum += product[i];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
        if (threadIdx.x % 32) continue;
        if (first < begin || last > end) atomicAdd(&y[r], sum);
        else y[r] = sum;
    }
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows == 0) return;
    cudaMemsetAsync(y, 0, rows * sizeof(float));
    if (nonzeros > 0) multiply<<<(nonzeros + SHARE - 1) / SHARE, THREADS>>>(y, offsets, columns, values, x, rows, nonzeros);
}
