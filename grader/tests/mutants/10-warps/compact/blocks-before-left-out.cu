// expect: WA|RTE
// Every block writes from the start of `out`.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs
constexpr int AHEAD = 4, ROUND = 32 * AHEAD;                           // elements of a warp in flight
constexpr unsigned ALL = 0xffffffff;
// tune: MAX_BLOCKS 264 528 1056

__device__ int kept[MAX_BLOCKS][WARPS], kept_of_block[MAX_BLOCKS];

// Returns a vote for each of the lane's elements of this round: is it kept?
__device__ void vote(unsigned *votes, int *x, const int *in, int base, int last) {
    int i = base + threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < AHEAD; k++) x[k] = i + 32 * k < last ? in[i + 32 * k] : 0; // all loads are issued before the first vote
#pragma unroll
    for (int k = 0; k < AHEAD; k++) votes[k] = __ballot_sync(ALL, x[k] > 0);
}

__global__ void count_kept(const int *__restrict__ in, int n, int part) {
    __shared__ int total;
    int warp = threadIdx.x / 32, first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part), mine = 0;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int base = first; base < last; base += ROUND) {
        unsigned votes[AHEAD];
        int x[AHEAD];
        vote(votes, x, in, base, last);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) mine += __popc(votes[k]);
    }
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
    for (int b = threadIdx.x; b < blockIdx.x; b += THREADS) sum += 0;
    sum = __reduce_add_sync(ALL, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&blocks_before, sum);
    __syncthreads();
    sum = blocks_before;
    for (int w = 0; w < WARPS; w++) sum += w < warp ? kept[blockIdx.x][w] : 0;
    return sum;
}

__global__ void write_kept(int *__restrict__ out, int *__restrict__ count, const int *__restrict__ in, int n, int part) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part), next = elements_before(warp);
    for (int base = first; base < last; base += ROUND) {
        unsigned votes[AHEAD];
        int x[AHEAD];
        vote(votes, x, in, base, last);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (x[k] > 0) out[next + __popc(votes[k] & ((1u << lane) - 1))] = x[k];
            next += __popc(votes[k]);
        }
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == THREADS - 1) *count = next;
}

extern "C" void compact(int *out, int *count, const int *in, int n) {
    int part = (n / (MAX_BLOCKS * WARPS) + ROUND) / ROUND * ROUND; // elements of a warp, a multiple of its round
    int blocks = max(1, (n + WARPS * part - 1) / (WARPS * part));
    count_kept<<<blocks, THREADS>>>(in, n, part);
    write_kept<<<blocks, THREADS>>>(out, count, in, n, part);
}
