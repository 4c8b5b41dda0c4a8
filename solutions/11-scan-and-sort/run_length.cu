// run_length: the model solution. A run ends where the next one begins. Each warp has a stretch of `in`, and before it
// starts, it has the number of earlier runs and the start of the last one: a scan of sums and one of maxima. A lane
// examines four neighbours by itself, so that a vote or an exchange between lanes serves 128 elements.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 528; // 4 blocks for each of 132 SMs
constexpr int AHEAD = 4, ROUND = 32 * 4 * AHEAD;                      // elements of a warp in flight
constexpr unsigned ALL = 0xffffffff;
// tune: MAX_BLOCKS 264 528 1056

struct __align__(8) runs_of { // loaded with one instruction
    int begun, latest; // the number of runs that begin, and where the last one begins; -1 if none
};

__device__ runs_of of_warp[MAX_BLOCKS][WARPS], of_block[MAX_BLOCKS];

__device__ int4 load(const int *in, int i, int last) {
    if (i + 4 <= last) return *reinterpret_cast<const int4 *>(in + i);
    return {i < last ? in[i] : 0, i + 1 < last ? in[i + 1] : 0, i + 2 < last ? in[i + 2] : 0, 0};
}

// Loads the lane's elements of this round before the first vote.
__device__ void load_round(int4 *x, const int *in, int base, int last) {
#pragma unroll
    for (int k = 0; k < AHEAD; k++) x[k] = load(in, base + 4 * (32 * k + threadIdx.x % 32), last);
}

// Returns a bit for each of the lane's four elements, from element i on: does a run begin there? `before` is the element
// before the warp's 128, and becomes the last of them.
__device__ unsigned beginnings(int4 x, int *before, int i, int last) {
    int left = __shfl_up_sync(ALL, x.w, 1);
    if (threadIdx.x % 32 == 0) left = *before;
    *before = __shfl_sync(ALL, x.w, 31);
    unsigned bits = (i == 0 || x.x != left) | (x.y != x.x) << 1 | (x.z != x.y) << 2 | (x.w != x.z) << 3;
    return i + 4 <= last ? bits : bits & ((1u << max(last - i, 0)) - 1);
}

// Returns where the last of the runs begins.
__device__ int latest_of(unsigned bits, int i) { return bits ? i + 31 - __clz(bits) : -1; }

__global__ void count_runs(const int *__restrict__ in, int n, int part) {
    __shared__ int total, newest;
    int warp = threadIdx.x / 32, first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part);
    int before = first > 0 && first < n ? in[first - 1] : 0;
    runs_of mine = {0, -1};
    if (threadIdx.x == 0) total = 0, newest = -1;
    __syncthreads();
    for (int base = first; base < last; base += ROUND) {
        int4 x[AHEAD];
        load_round(x, in, base, last);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            int i = base + 4 * (32 * k + threadIdx.x % 32);
            unsigned bits = beginnings(x[k], &before, i, last);
            mine.begun += __popc(bits);
            mine.latest = max(mine.latest, latest_of(bits, i));
        }
    }
    mine = {__reduce_add_sync(ALL, mine.begun), __reduce_max_sync(ALL, mine.latest)};
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

// Returns how many runs begin in the lanes before this one. *all becomes the number in all lanes.
__device__ int begun_before(unsigned bits, int *all) {
    int sum = 0;
    *all = 0;
#pragma unroll
    for (int e = 0; e < 4; e++) {
        unsigned votes = __ballot_sync(ALL, bits >> e & 1);
        sum += __popc(votes & ((1u << threadIdx.x % 32) - 1));
        *all += __popc(votes);
    }
    return sum;
}

__global__ void write_runs(int *__restrict__ values, int *__restrict__ lengths, int *__restrict__ runs,
                           const int *__restrict__ in, int n, int part) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part);
    int before = first > 0 && first < n ? in[first - 1] : 0;
    runs_of r = runs_before(warp);
    for (int base = first; base < last; base += ROUND) {
        int4 x[AHEAD];
        load_round(x, in, base, last);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            int i = base + 4 * (32 * k + lane), all;
            unsigned bits = beginnings(x[k], &before, i, last), begin = __ballot_sync(ALL, bits), below = begin & ((1u << lane) - 1);
            if (!begin) continue; // no run begins in these 128 elements
            int place = r.begun + begun_before(bits, &all), mine = latest_of(bits, i);
            int start = __shfl_sync(ALL, mine, 31 - __clz(below | 1)); // of the nearest lane below in which a run begins
            if (!below) start = r.latest;
#pragma unroll
            for (int e = 0; e < 4; e++) {
                if (!(bits >> e & 1)) continue;
                values[place] = e == 0 ? x[k].x : e == 1 ? x[k].y : e == 2 ? x[k].z : x[k].w;
                if (place > 0) lengths[place - 1] = i + e - start; // the run before this one ends
                start = i + e, place++;
            }
            r = {r.begun + all, __shfl_sync(ALL, mine, 31 - __clz(begin))};
        }
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == THREADS - 1) {
        *runs = r.begun;
        if (r.begun > 0) lengths[r.begun - 1] = n - r.latest;
    }
}

extern "C" void run_length(int *values, int *lengths, int *runs, const int *in, int n) {
    int part = (n / (MAX_BLOCKS * WARPS) + ROUND) / ROUND * ROUND; // elements of a warp, a multiple of its round
    int blocks = max(1, (n + WARPS * part - 1) / (WARPS * part));
    count_runs<<<blocks, THREADS>>>(in, n, part);
    write_runs<<<blocks, THREADS>>>(values, lengths, runs, in, n, part);
}
