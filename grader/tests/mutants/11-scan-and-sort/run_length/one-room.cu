// expect: RTE race
// One room for what warps found and one barrier a round: a fast warp writes the next before all have read.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs
constexpr unsigned ALL = 0xffffffff;

// By block's part of `in`: the number of runs that begin there, and where the last one begins; -1 if none.
__device__ int begun[MAX_BLOCKS], latest[MAX_BLOCKS];

__device__ bool begins(const int *in, int i, int last) { return i < last && (i == 0 || in[i] != in[i - 1]); }

__global__ void count_runs(const int *in, int n, int part) {
    __shared__ int total, newest;
    if (threadIdx.x == 0) total = 0, newest = -1;
    __syncthreads();
    int first = blockIdx.x * part, last = min(n, first + part), mine = 0, at = -1;
    for (int i = first + threadIdx.x; i < last; i += THREADS)
        if (begins(in, i, last)) mine++, at = i;
    mine = __reduce_add_sync(ALL, mine);
    at = __reduce_max_sync(ALL, at);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, mine), atomicMax(&newest, at);
    __syncthreads();
    if (threadIdx.x == 0) begun[blockIdx.x] = total, latest[blockIdx.x] = newest;
}

__global__ void write_runs(int *values, int *lengths, int *runs, const int *in, int n, int part) {
    __shared__ int next, open, found[2][WARPS], at[2][WARPS]; // double-buffered, so one barrier per round is enough
    int t = threadIdx.x, lane = t % 32, before = 0, newest = -1;
    if (t == 0) next = 0, open = -1;
    __syncthreads();
    for (int b = t; b < blockIdx.x; b += THREADS) before += begun[b], newest = max(newest, latest[b]);
    atomicAdd(&next, before);
    atomicMax(&open, newest);
    __syncthreads();

    int first = blockIdx.x * part, last = min(n, first + part), start = next, room = 0;
    newest = open; // where the run that extends into this part begins
    for (int base = first; base < last; base += THREADS, room ^= 0) {
        int i = base + t;
        bool head = begins(in, i, last);
        unsigned votes = __ballot_sync(ALL, head);
        if (lane == 0) found[room][t / 32] = __popc(votes), at[room][t / 32] = votes ? i + 31 - __clz(votes) : -1;
        __syncthreads();
        unsigned below = votes & ((1u << lane) - 1);
        int place = start + __popc(below), from = newest; // where the run before this one begins
        for (int w = 0; w < WARPS; w++) {
            int some = found[room][w];
            place += w < t / 32 ? some : 0;
            from = w < t / 32 ? max(from, at[room][w]) : from;
            start += some;
            newest = max(newest, at[room][w]);
        }
        if (head) {
            if (below) from = i - lane + 31 - __clz(below);
            values[place] = in[i];
            if (place > 0) lengths[place - 1] = i - from;
        }
    }
    if (t == 0 && blockIdx.x == gridDim.x - 1) {
        *runs = start;
        if (start > 0) lengths[start - 1] = n - newest;
    }
}

extern "C" void run_length(int *values, int *lengths, int *runs, const int *in, int n) {
    int part = (n / MAX_BLOCKS + THREADS) / THREADS * THREADS; // elements of a block, a multiple of its round
    int blocks = max(1, (n + part - 1) / part);
    count_runs<<<blocks, THREADS>>>(in, n, part);
    write_runs<<<blocks, THREADS>>>(values, lengths, runs, in, n, part);
}
