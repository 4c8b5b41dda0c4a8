// Right: two kernels, in which two goals fail for two reasons.
// at first: both goals by one shared figure
// expect: PART 70 100
// says: positions come from votes
constexpr int THREADS = 256, WARPS = 8, MOST_BLOCKS = 1056;
__device__ int kept[MOST_BLOCKS * WARPS];
__global__ void count_kept(const int *in, int n, int part) {
    int w = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    int first = w * part, last = min(n, first + part), mine = 0;
    for (int i = first + lane; i < last; i += 32) mine += in[i] > 0;
    mine = __reduce_add_sync(~0u, mine);
    if (lane == 0) kept[w] = mine;
}
__global__ void write_kept(int *out, int *count, const int *in, int n, int part) {
    __shared__ int sums[WARPS];
    int t = threadIdx.x, lane = t % 32, w = blockIdx.x * WARPS + t / 32;
    int before = 0;
    for (int b = t; b < blockIdx.x * WARPS; b += THREADS) before += kept[b];
    before = __reduce_add_sync(~0u, before);
    if (lane == 0) sums[t / 32] = before;
    __syncthreads();
    int next = 0;
    for (int k = 0; k < WARPS; k++) next += sums[k];
    for (int k = 0; k < t / 32; k++) next += kept[blockIdx.x * WARPS + k];
    int first = w * part, last = min(n, first + part);
    for (int base = first; base < last; base += 32) {
        int i = base + lane;
        int x = i < last ? in[i] : 0;
        unsigned votes = __ballot_sync(~0u, x > 0);
        if (x > 0) out[next + __popc(votes & ((1u << lane) - 1))] = x;
        next += __popc(votes);
    }
    if (blockIdx.x == gridDim.x - 1 && t == THREADS - 1) *count = next;
}
extern "C" void compact(int *out, int *count, const int *in, int n) {
    int part = (n / (MOST_BLOCKS * WARPS) + 32) / 32 * 32;
    int blocks = max(1, (n + part * WARPS - 1) / (part * WARPS));
    count_kept<<<blocks, THREADS>>>(in, n, part);
    write_kept<<<blocks, THREADS>>>(out, count, in, n, part);
}
