// compact: the elements of `in` that are above 0, in their order, at the front of `out`; how many they are, in `count`.

constexpr int THREADS = 256, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs

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
    __shared__ int next, place[THREADS];
    int t = threadIdx.x, before = 0;
    if (t == 0) next = 0;
    __syncthreads();
    for (int b = t; b < blockIdx.x; b += THREADS) before += kept[b];
    atomicAdd(&next, before); // first element of the block
    __syncthreads();

    int first = blockIdx.x * part, last = min(n, first + part);
    for (int base = first; base < last; base += THREADS) {
        int i = base + t;
        int x = i < last ? in[i] : 0;
        bool keep = x > 0;
        place[t] = keep;
        __syncthreads();
        if (t == 0)
            // TODO: one thread counts, and 255 wait. A warp can tell each of its lanes how many before it are kept.
            for (int k = 0; k < THREADS; k++) {
                int one = place[k];
                place[k] = next;
                next += one;
            }
        __syncthreads();
        if (keep) out[place[t]] = x;
    }
    if (t == 0 && blockIdx.x == gridDim.x - 1) *count = next;
}

extern "C" void compact(int *out, int *count, const int *in, int n) {
    int part = (n / MAX_BLOCKS + THREADS) / THREADS * THREADS; // elements of a block, a multiple of its round
    int blocks = max(1, (n + part - 1) / part);
    count_kept<<<blocks, THREADS>>>(in, n, part);
    write_kept<<<blocks, THREADS>>>(out, count, in, n, part);
}
