// expect: RTE race
// Bins of a block without atomics, which only blocks of one warp may have; data as large as those that are counted get more.

constexpr int BINS = 256, WARP = 32, MAX_WARPS = 8, MAX_BLOCKS = 264; // 2 blocks for each of 132 SMs
constexpr unsigned ALL = 0xffffffff;

__global__ void clear(int *bins) {
    bins[threadIdx.x] = 0;
}

/* Of the lanes with the same byte, the lowest adds for all of them. */
__device__ void add_up(int *part, int value, int lane) {
    unsigned same = __match_any_sync(ALL, value);
    if (value < BINS && __ffs(same) - 1 == lane) part[value] += __popc(same);
    __syncwarp();
}

__global__ void count(int *__restrict__ bins, const unsigned char *__restrict__ data, int n) {
    __shared__ int part[BINS];
    int lane = threadIdx.x % WARP, threads = blockDim.x, step = gridDim.x * threads;
    for (int i = threadIdx.x; i < BINS; i += threads) part[i] = 0;
    __syncthreads();
    for (int start = blockIdx.x * threads + threadIdx.x - lane; start < n; start += step)
        add_up(part, start + lane < n ? data[start + lane] : BINS, lane);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += threads)
        if (part[i] > 0) atomicAdd(&bins[i], part[i]);
}

extern "C" void histogram(int *bins, const unsigned char *data, int n) {
    clear<<<1, BINS>>>(bins);
    if (n == 0) return;
    int threads = n < 1 << 19 ? WARP : MAX_WARPS * WARP, blocks = (n + threads - 1) / threads;
    count<<<blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS, threads>>>(bins, data, n);
}
