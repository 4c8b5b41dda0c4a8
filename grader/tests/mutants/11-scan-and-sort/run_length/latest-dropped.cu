// expect: WA
// A run that begins in a round before is taken to begin at the stretch.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs
constexpr int AHEAD = 4, ROUND = 32 * AHEAD, STRETCH = 4 * ROUND;      // elements of a warp in flight; the least elements of a warp
constexpr unsigned ALL = 0xffffffff;
// tune: MAX_BLOCKS 264 528 1056

struct __align__(8) runs_of { // loaded with one instruction
    int begun, latest; // the number of runs that begin, and where the last one begins; -1 if none
};

__device__ runs_of of_warp[MAX_BLOCKS][WARPS], of_block[MAX_BLOCKS];

// Returns a vote for each 32 elements of the round: where do runs begin? `before` is the element before the round.
__device__ void vote(unsigned *votes, int *x, int *before, const int *in, int base, int last) {
    int lane = threadIdx.x % 32, i = base + lane;
#pragma unroll
    for (int k = 0; k < AHEAD; k++) x[k] = i + 32 * k < last ? in[i + 32 * k] : 0; // all loads are issued before the first vote
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
        int left = __shfl_up_sync(ALL, x[k], 1);
        if (lane == 0) left = *before;
        votes[k] = __ballot_sync(ALL, i + 32 * k < last && (i + 32 * k == 0 || x[k] != left));
        *before = __shfl_sync(ALL, x[k], 31);
    }
}

__global__ void count_runs(const int *__restrict__ in, int n, int part) {
    __shared__ int total, newest;
    int warp = threadIdx.x / 32, first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part);
    int before = first > 0 && first < n ? in[first - 1] : 0;
    runs_of mine = {0, -1};
    if (threadIdx.x == 0) total = 0, newest = -1;
    __syncthreads();
    for (int base = first; base < last; base += ROUND) {
        unsigned votes[AHEAD];
        int x[AHEAD];
        vote(votes, x, &before, in, base, last);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            mine.begun += __popc(votes[k]);
            if (votes[k]) mine.latest = base + 32 * k + 31 - __clz(votes[k]);
        }
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[blockIdx.x][warp] = mine;
        atomicAdd(&total, mine.begun);
        atomicMax(&newest, mine.latest);
    }
    __syncthreads();
    if (threadIdx.x == 0) of_block[blockIdx.x] = {total, newest};
}

// Returns the sum over all earlier blocks and over the earlier warps of this block.
__device__ runs_of runs_before(int warp) {
    __shared__ int total, newest;
    if (threadIdx.x == 0) total = 0, newest = -1;
    __syncthreads();
    runs_of r = {0, -1};
    for (int b = threadIdx.x; b < blockIdx.x; b += THREADS) {
        runs_of some = of_block[b];
        r.begun += some.begun;
        r.latest = max(r.latest, some.latest);
    }
    r.begun = __reduce_add_sync(ALL, r.begun);
    r.latest = __reduce_max_sync(ALL, r.latest);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, r.begun), atomicMax(&newest, r.latest);
    __syncthreads();
    r = {total, newest};
    for (int w = 0; w < warp; w++) {
        runs_of some = of_warp[blockIdx.x][w];
        r.begun += some.begun;
        r.latest = max(r.latest, some.latest);
    }
    return r;
}

__global__ void write_runs(int *__restrict__ values, int *__restrict__ lengths, int *__restrict__ runs,
                           const int *__restrict__ in, int n, int part) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part);
    int before = first > 0 && first < n ? in[first - 1] : 0;
    runs_of r = runs_before(warp);
    for (int base = first; base < last; base += ROUND) {
        unsigned votes[AHEAD];
        int x[AHEAD];
        vote(votes, x, &before, in, base, last);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            int i = base + 32 * k;
            unsigned below = votes[k] & ((1u << lane) - 1);
            if (votes[k] >> lane & 1) {
                int place = r.begun + __popc(below), start = below ? i + 31 - __clz(below) : r.latest;
                values[place] = x[k];
                if (place > 0) lengths[place - 1] = i + lane - start; // the run before this one ends
            }
            r.begun += __popc(votes[k]);
        }
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == THREADS - 1) {
        *runs = r.begun;
        if (r.begun > 0) lengths[r.begun - 1] = n - r.latest;
    }
}

extern "C" void run_length(int *values, int *lengths, int *runs, const int *in, int n) {
    int part = (n / (MAX_BLOCKS * WARPS) + STRETCH) / STRETCH * STRETCH; // elements of a warp, a multiple of its round
    int blocks = max(1, (n + WARPS * part - 1) / (WARPS * part));
    count_runs<<<blocks, THREADS>>>(in, n, part);
    write_runs<<<blocks, THREADS>>>(values, lengths, runs, in, n, part);
}
