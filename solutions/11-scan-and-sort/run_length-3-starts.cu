// Step 3: the start of each run is stored; another kernel subtracts neighbours.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs
constexpr unsigned ALL = 0xffffffff;

__device__ int begun[MAX_BLOCKS]; // the number of runs that begin in each block's part of `in`

__device__ bool begins(const int *in, int i, int last) { return i < last && (i == 0 || in[i] != in[i - 1]); }

__global__ void count_runs(const int *in, int n, int part) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int first = blockIdx.x * part, last = min(n, first + part), mine = 0;
    for (int i = first + threadIdx.x; i < last; i += THREADS) mine += begins(in, i, last);
    mine = __reduce_add_sync(ALL, mine);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) begun[blockIdx.x] = total;
}

__global__ void write_runs(int *values, int *starts, int *runs, const int *in, int n, int part) {
    __shared__ int next, found[2][WARPS]; // double-buffered, so one barrier per round is enough
    int t = threadIdx.x, lane = t % 32, before = 0;
    if (t == 0) next = 0;
    __syncthreads();
    for (int b = t; b < blockIdx.x; b += THREADS) before += begun[b];
    atomicAdd(&next, before);
    __syncthreads();

    int first = blockIdx.x * part, last = min(n, first + part), start = next, room = 0;
    for (int base = first; base < last; base += THREADS, room ^= 1) {
        int i = base + t;
        bool head = begins(in, i, last);
        unsigned votes = __ballot_sync(ALL, head);
        if (lane == 0) found[room][t / 32] = __popc(votes);
        __syncthreads();
        int place = start + __popc(votes & ((1u << lane) - 1)); // number of the run that begins here, if any
        for (int w = 0; w < WARPS; w++) {
            int some = found[room][w];
            place += w < t / 32 ? some : 0;
            start += some;
        }
        if (head) {
            values[place] = in[i];
            starts[place] = i;
        }
    }
    if (t == 0 && blockIdx.x == gridDim.x - 1) *runs = start;
}

__global__ void subtract(int *lengths, const int *starts, const int *runs, int n) {
    for (int k = blockIdx.x * THREADS + threadIdx.x; k < *runs; k += gridDim.x * THREADS)
        lengths[k] = (k + 1 < *runs ? starts[k + 1] : n) - starts[k];
}

extern "C" void run_length(int *values, int *lengths, int *runs, const int *in, int n) {
    int part = (n / MAX_BLOCKS + THREADS) / THREADS * THREADS; // elements of a block, a multiple of its round
    int *starts;
    int blocks = max(1, (n + part - 1) / part);
    count_runs<<<blocks, THREADS>>>(in, n, part);
    cudaMalloc(&starts, (n + 1) * sizeof(int));
    write_runs<<<blocks, THREADS>>>(values, starts, runs, in, n, part);
    subtract<<<blocks, THREADS>>>(lengths, starts, runs, n);
    cudaFree(starts);
}
