// compact: the model solution. Each warp has a stretch of `in` of its own, and knows before it starts where in `out` the
// stretch's elements go. Then it needs no other warp: a vote tells each lane how many lanes before it keep theirs.
// The second kernel walks its stretches backwards, since L2 still holds what the first one read last.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 528; // 4 blocks for each of 132 SMs
constexpr int AHEAD = 16, ROUND = 32 * AHEAD;                         // elements of a warp in flight
constexpr unsigned ALL = 0xffffffff;
// tune: MAX_BLOCKS 264 528 1056

__device__ int kept[MAX_BLOCKS][WARPS], kept_of_block[MAX_BLOCKS];

__device__ int4 load(const int *in, int i, int last) {
    if (i + 4 <= last) return *reinterpret_cast<const int4 *>(in + i);
    return {i < last ? in[i] : 0, i + 1 < last ? in[i + 1] : 0, i + 2 < last ? in[i + 2] : 0, 0};
}

// The order doesn't matter here, so that each lane counts four neighbours by itself.
__global__ void count_kept(const int *__restrict__ in, int n, int part) {
    __shared__ int total;
    int warp = threadIdx.x / 32, first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part), mine = 0;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int base = first; base < last; base += ROUND) {
        int4 x[AHEAD / 4];
#pragma unroll
        for (int k = 0; k < AHEAD / 4; k++) x[k] = load(in, base + 128 * k + 4 * (threadIdx.x % 32), last);
#pragma unroll
        for (int k = 0; k < AHEAD / 4; k++) mine += (x[k].x > 0) + (x[k].y > 0) + (x[k].z > 0) + (x[k].w > 0);
    }
    mine = __reduce_add_sync(ALL, mine);
    if (threadIdx.x % 32 == 0) kept[blockIdx.x][warp] = mine, atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) kept_of_block[blockIdx.x] = total;
}

// Returns the sum over all earlier blocks and over the earlier warps of this block.
__device__ int elements_before(int warp) {
    __shared__ int blocks_before;
    if (threadIdx.x == 0) blocks_before = 0;
    __syncthreads();
    int sum = 0;
    for (int b = threadIdx.x; b < blockIdx.x; b += THREADS) sum += kept_of_block[b];
    sum = __reduce_add_sync(ALL, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&blocks_before, sum);
    __syncthreads();
    sum = blocks_before;
    for (int w = 0; w < WARPS; w++) sum += w < warp ? kept[blockIdx.x][w] : 0;
    return sum;
}

__global__ void write_kept(int *__restrict__ out, int *__restrict__ count, const int *__restrict__ in, int n, int part) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part);
    int end = elements_before(warp) + kept[blockIdx.x][warp]; // in `out`, of what is not written yet
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == THREADS - 1) *count = end;
    for (int base = first + part - ROUND; base >= first; base -= ROUND) {
        int x[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) { // all loads are issued before the first vote
            int i = base + 32 * k + lane;
            x[k] = i < last ? in[i] : 0;
        }
#pragma unroll
        for (int k = AHEAD - 1; k >= 0; k--) {
            unsigned votes = __ballot_sync(ALL, x[k] > 0);
            end -= __popc(votes);
            if (x[k] > 0) __stcs(&out[end + __popc(votes & ((1u << lane) - 1))], x[k]); // leaves room in L2 for `in`
        }
    }
}

extern "C" void compact(int *out, int *count, const int *in, int n) {
    int part = (n / (MAX_BLOCKS * WARPS) + ROUND) / ROUND * ROUND; // elements of a warp, a multiple of its round
    int blocks = max(1, (n + WARPS * part - 1) / (WARPS * part));
    count_kept<<<blocks, THREADS>>>(in, n, part);
    write_kept<<<blocks, THREADS>>>(out, count, in, n, part);
}
