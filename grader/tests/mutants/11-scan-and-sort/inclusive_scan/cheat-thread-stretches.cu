// expect: PART
// Each thread adds up a stretch of its own, 16 neighbours: few instructions, no shared memory, and 32 sectors for each load.

constexpr int THREADS = 128, STRETCH = 16;

__device__ unsigned total[1 << 21], total_of_block[1 << 14];

__global__ void add_parts(const unsigned *in, int n) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int thread = blockIdx.x * THREADS + threadIdx.x;
    unsigned mine = 0;
    for (int k = 0; k < STRETCH; k++) mine += thread * STRETCH + k < n ? in[thread * STRETCH + k] : 0;
    unsigned all = __reduce_add_sync(0xffffffff, mine);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, all);
    __syncthreads();
    if (threadIdx.x == 0) total_of_block[blockIdx.x] = sum;
}

__global__ void scan_parts(unsigned *out, const unsigned *in, int n) {
    __shared__ unsigned sums[4], before;
    if (threadIdx.x == 0) before = 0;
    __syncthreads();
    unsigned mine = 0, others = 0;
    for (int b = threadIdx.x; b < blockIdx.x; b += THREADS) others += total_of_block[b];
    others = __reduce_add_sync(0xffffffff, others);
    if (threadIdx.x % 32 == 0) atomicAdd(&before, others);
    int first = (blockIdx.x * THREADS + threadIdx.x) * STRETCH;
    for (int k = 0; k < STRETCH; k++) mine += first + k < n ? in[first + k] : 0;
    unsigned up_to = mine;
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, up_to, d);
        if (threadIdx.x % 32 >= d) up_to += other;
    }
    if (threadIdx.x % 32 == 31) sums[threadIdx.x / 32] = up_to;
    __syncthreads();
    unsigned sum = before + up_to - mine;
    for (int w = 0; w < threadIdx.x / 32; w++) sum += sums[w];
    for (int k = 0; k < STRETCH && first + k < n; k++) out[first + k] = sum += in[first + k];
}

extern "C" void inclusive_scan(unsigned *out, const unsigned *in, int n) {
    int blocks = (n + THREADS * STRETCH - 1) / (THREADS * STRETCH);
    if (blocks == 0) return;
    add_parts<<<blocks, THREADS>>>(in, n);
    scan_parts<<<blocks, THREADS>>>(out, in, n);
}
