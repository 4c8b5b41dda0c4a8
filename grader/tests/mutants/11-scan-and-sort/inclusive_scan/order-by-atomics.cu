// expect: WA
// Blocks add to a running total as they come, and take what it was for the sum before them.
constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffff;
__device__ unsigned running;
__global__ void clear() { running = 0; }
__global__ void scan(unsigned *out, const unsigned *in, int n) {
    __shared__ unsigned sum[WARPS], before;
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    unsigned mine = i < n ? in[i] : 0;
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned other = __shfl_up_sync(ALL, mine, distance);
        if (t % 32 >= distance) mine += other;
    }
    if (t % 32 == 31) sum[t / 32] = mine;
    __syncthreads();
    if (t == 0) {
        unsigned all = 0;
        for (int w = 0; w < WARPS; w++) { unsigned some = sum[w]; sum[w] = all; all += some; }
        before = atomicAdd(&running, all);
    }
    __syncthreads();
    if (i < n) out[i] = before + sum[t / 32] + mine;
}
extern "C" void inclusive_scan(unsigned *out, const unsigned *in, int n) {
    if (n == 0) return;
    clear<<<1, 1>>>();
    scan<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, n);
}
