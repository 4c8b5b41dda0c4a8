// expect: WA
// Columns are loaded, and x is not.

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int GROUPS = 2;                   // of four elements, of a thread
constexpr int SHARE = 4 * GROUPS * THREADS; // elements of a block
constexpr int LONG = 32;                    // products of a row, from which on a warp adds them up
constexpr unsigned ALL = 0xffffffff;

// The last row that begins at element i or before it. A warp looks at 32 rows at a time: four rounds for a million.
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

// A block's part of row r, which is all of it or not.
__device__ void give(float *y, int r, float sum, bool all) {
    if (all) y[r] = sum;
    else atomicAdd(&y[r], sum);
}

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows, int nonzeros) {
    __shared__ float4 room[SHARE / 4];
    __shared__ int late[SHARE / LONG], lates, row;
    int begin = blockIdx.x * SHARE, end = min(begin + SHARE, nonzeros);
    int4 c[GROUPS];
    float4 v[GROUPS];
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        int i = begin + (k * THREADS + threadIdx.x) * 4;
        if (i + 4 > end) continue;
        c[k] = *reinterpret_cast<const int4 *>(columns + i);
        v[k] = *reinterpret_cast<const float4 *>(values + i);
    }
    if (threadIdx.x < 32) row = row_of(begin, offsets, rows), lates = 0; // while elements are on their way
    float *product = reinterpret_cast<float *>(room) - begin;
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        int i = begin + (k * THREADS + threadIdx.x) * 4;
        if (i + 4 <= end) room[k * THREADS + threadIdx.x] = {v[k].x, v[k].y, v[k].z, v[k].w};
        else for (; i < end; i++) product[i] = values[i];
    }
    __syncthreads();

    for (int r = row + threadIdx.x; r < rows && offsets[r] < end; r += THREADS) {
        int first = offsets[r], last = offsets[r + 1], i = max(first, begin), stop = min(last, end);
        if (stop - i >= LONG) {
            late[atomicAdd(&lates, 1)] = r;
            continue;
        }
        float sum = 0.0f;
        for (; i < stop; i++) sum += product[i];
        if (first < last) give(y, r, sum, first >= begin && last <= end); // empty rows are 0 already
    }
    __syncthreads();

    for (int k = threadIdx.x / 32; k < lates; k += WARPS) {
        int r = late[k], first = offsets[r], last = offsets[r + 1], stop = min(last, end);
        float sum = 0.0f;
        for (int i = max(first, begin) + threadIdx.x % 32; i < stop; i += 32) sum += product[i];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
        if (threadIdx.x % 32 == 0) give(y, r, sum, first >= begin && last <= end);
    }
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows == 0) return;
    cudaMemsetAsync(y, 0, rows * sizeof(float));
    int blocks = (nonzeros + SHARE - 1) / SHARE;
    if (blocks > 0) multiply<<<blocks, THREADS>>>(y, offsets, columns, values, x, rows, nonzeros);
}
