// expect: WA
// Four rounds of shuffles for 32 lanes.

constexpr int THREADS = 128, WARPS = THREADS / 32;
constexpr int GROUPS = 2;              // groups of four elements per lane and round
constexpr int ROOM = 4 * GROUPS * 32;  // elements of a warp per round
constexpr int SHARE = 8 * ROOM;        // elements of a warp
constexpr int LONG = 32;               // a row of at least this many products is summed by all lanes
constexpr unsigned ALL = 0xffffffff;

struct elements { // per lane
    int4 column[GROUPS];
    float4 value[GROUPS];
};

struct row { // the part of it that the warp holds: the products from `from` to `to` - 1
    int from, to;
    bool all, ends; // the whole row; up to its end
};

__device__ void load(elements &e, int base, int stop, const int *columns, const float *values) {
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        int i = base + (k * 32 + threadIdx.x % 32) * 4;
        if (i + 4 > stop) continue;
        e.column[k] = __ldcs(reinterpret_cast<const int4 *>(columns + i)); // read once, so it must not evict x from L1
        e.value[k] = __ldcs(reinterpret_cast<const float4 *>(values + i));
    }
}

// Four at a time; the remainder one by one.
__device__ void multiply(float4 *room, const elements &e, int base, int stop, const int *columns, const float *values, const float *x) {
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        int group = k * 32 + threadIdx.x % 32, i = base + group * 4;
        int4 c = e.column[k];
        float4 v = e.value[k];
        if (i + 4 <= stop) room[group] = {v.x * x[c.x], v.y * x[c.y], v.z * x[c.z], v.w * x[c.w]};
        else for (; i < stop; i++) reinterpret_cast<float *>(room)[i - base] = values[i] * x[columns[i]];
    }
}

// Returns the last row that begins at or before element i. A warp tests 32 rows at a time: four rounds for a million.
__device__ int row_at(int i, const int *offsets, int rows) {
    int low = 0, lane = threadIdx.x % 32;
    while (rows > 1) {
        int step = (rows + 31) / 32, r = low + lane * step;
        int k = __popc(__ballot_sync(ALL, lane * step < rows && offsets[r] <= i)) - 1;
        low += k * step;
        rows = min(step, rows - k * step);
    }
    return low;
}

__device__ row row_of(int r, int rows, const int *offsets, int base, int end) {
    if (r >= rows) return {end, end, false, false};
    int first = offsets[r], last = offsets[r + 1];
    return {max(first, base), min(last, end), first >= base && last <= end, last <= end};
}

__device__ void give(float *y, float sum, bool all) {
    if (all) *y = sum;
    else atomicAdd(y, sum); // the rest of the segment is in other warps or rounds
}

// Sums rows r, r + 1, ..., one lane per row. `product` is that of element `base`.
__device__ void add_rows(float *y, int r, row mine, const float *product, int base) {
    int lane = threadIdx.x % 32, length = mine.to - mine.from;
    if (length > 0 && length < LONG) {
        float sum = 0.0f;
        for (int i = mine.from; i < mine.to; i++) sum += product[i - base];
        give(&y[r], sum, mine.all);
    }
    for (unsigned late = __ballot_sync(ALL, length >= LONG); late; late &= late - 1) {
        int l = __ffs(late) - 1, to = __shfl_sync(ALL, mine.to, l);
        float sum = 0.0f;
        for (int i = __shfl_sync(ALL, mine.from, l) + lane; i < to; i += 32) sum += product[i - base];
        for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
        if (lane == l) give(&y[r], sum, mine.all);
    }
}

__global__ void spmv_shares(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                            const float *__restrict__ values, const float *__restrict__ x, int rows, int nonzeros) {
    __shared__ float4 rooms[WARPS][ROOM / 4];
    float4 *room = rooms[threadIdx.x / 32];
    int lane = threadIdx.x % 32, base = (blockIdx.x * WARPS + threadIdx.x / 32) * SHARE, stop = min(base + SHARE, nonzeros);
    if (base >= stop) return; // uniform in the warp
    elements next;
    load(next, base, stop, columns, values);
    int first = row_at(base, offsets, rows); // while loads are in flight
    for (; base < stop; base += ROOM) {
        int end = min(base + ROOM, stop);
        row mine = row_of(first + lane, rows, offsets, base, end);
        multiply(room, next, base, end, columns, values, x);
        load(next, base + ROOM, stop, columns, values);
        __syncwarp();
        for (int ended = 32; ended == 32;) { // if all 32 rows end in this round, there may be more
            add_rows(y, first + lane, mine, reinterpret_cast<const float *>(room), base);
            first += ended = __popc(__ballot_sync(ALL, mine.ends));
            if (ended == 32) mine = row_of(first + lane, rows, offsets, base, end);
        }
        __syncwarp();
    }
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows == 0) return;
    cudaMemsetAsync(y, 0, rows * sizeof(float));
    int blocks = (nonzeros + WARPS * SHARE - 1) / (WARPS * SHARE);
    if (blocks > 0) spmv_shares<<<blocks, THREADS>>>(y, offsets, columns, values, x, rows, nonzeros);
}
