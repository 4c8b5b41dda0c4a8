// Step 3: a scan by shuffles in each warp, and one word a warp in shared memory.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs

__device__ int kept[MAX_BLOCKS]; // by each block's part of `in`

__global__ void count_kept(const int *in, int n, int part) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int last = min(n, (int)(blockIdx.x + 1) * part), mine = 0;
    for (int i = blockIdx.x * part + threadIdx.x; i < last; i += THREADS) mine += in[i] > 0;
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) kept[blockIdx.x] = total;
}

__global__ void write_kept(int *out, int *count, const int *in, int n, int part) {
    __shared__ int next, found[2][WARPS];
    int t = threadIdx.x, lane = t % 32, before = 0;
    if (t == 0) next = 0;
    __syncthreads();
    for (int b = t; b < blockIdx.x; b += THREADS) before += kept[b];
    atomicAdd(&next, before); // first element of the block
    __syncthreads();

    int first = blockIdx.x * part, last = min(n, first + part);
    int start = next, round = 0;
    for (int base = first; base < last; base += THREADS, round ^= 1) {
        int i = base + t;
        int x = i < last ? in[i] : 0;
        bool keep = x > 0;
        int upto = keep;
        for (int distance = 1; distance < 32; distance *= 2) {
            int other = __shfl_up_sync(0xffffffff, upto, distance);
            if (lane >= distance) upto += other;
        }
        if (lane == 31) found[round][t / 32] = upto;
        __syncthreads();
        int mine = start; // first element of the warp
        for (int w = 0; w < WARPS; w++) {
            int some = found[round][w]; // double-buffered, so one barrier per round is enough
            mine += w < t / 32 ? some : 0;
            start += some;
        }
        if (keep) out[mine + upto - 1] = x;
    }
    if (t == 0 && blockIdx.x == gridDim.x - 1) *count = start;
}

extern "C" void compact(int *out, int *count, const int *in, int n) {
    int part = (n / MAX_BLOCKS + THREADS) / THREADS * THREADS; // elements of a block, a multiple of its round
    int blocks = max(1, (n + part - 1) / part);
    count_kept<<<blocks, THREADS>>>(in, n, part);
    write_kept<<<blocks, THREADS>>>(out, count, in, n, part);
}
