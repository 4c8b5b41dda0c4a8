// expect: RTE race
// One room for the sums of warps and one barrier a round: a fast warp writes the next before all have read.

constexpr int THREADS = 256, MAX_BLOCKS = 1024;

__device__ unsigned total[MAX_BLOCKS]; // of each block's part of `in`; later the inclusive prefix sum

constexpr int WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffff;

__device__ unsigned scan_warp(unsigned x) {
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned other = __shfl_up_sync(ALL, x, distance);
        if (threadIdx.x % 32 >= distance) x += other;
    }
    return x;
}

__global__ void scan_parts(unsigned *out, const unsigned *in, int n, int part) {
    __shared__ unsigned sum[2][WARPS]; // double-buffered, so one barrier per round is enough
    int t = threadIdx.x, first = blockIdx.x * part, last = min(n, first + part), room = 0;
    unsigned before = 0;
    for (int base = first; base < last; base += THREADS, room ^= 0) {
        int i = base + t;
        unsigned mine = scan_warp(i < last ? in[i] : 0);
        if (t % 32 == 31) sum[room][t / 32] = mine;
        __syncthreads();
        mine += before;
        for (int w = 0; w < WARPS; w++) {
            unsigned some = sum[room][w];
            mine += w < t / 32 ? some : 0;
            before += some;
        }
        if (i < last) out[i] = mine;
    }
    if (t == 0) total[blockIdx.x] = before;
}

__global__ void scan_totals() {
    __shared__ unsigned sum[2][MAX_BLOCKS];
    int t = threadIdx.x, from = 0;
    sum[0][t] = total[t];
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2, from ^= 1) {
        unsigned here = sum[from][t];
        sum[from ^ 1][t] = t < distance ? here : here + sum[from][t - distance];
        __syncthreads();
    }
    total[t] = sum[from][t];
}

__global__ void add_before(unsigned *out, int n, int part) {
    int first = blockIdx.x * part, last = min(n, first + part);
    if (blockIdx.x == 0) return;
    unsigned before = total[blockIdx.x - 1];
    for (int i = first + threadIdx.x; i < last; i += THREADS) out[i] += before;
}

extern "C" void inclusive_scan(unsigned *out, const unsigned *in, int n) {
    int part = (n / MAX_BLOCKS + THREADS) / THREADS * THREADS; // elements of a block, a multiple of its round
    int blocks = (n + part - 1) / part;
    if (blocks == 0) return;
    scan_parts<<<blocks, THREADS>>>(out, in, n, part);
    scan_totals<<<1, blocks>>>();
    add_before<<<blocks, THREADS>>>(out, n, part);
}
