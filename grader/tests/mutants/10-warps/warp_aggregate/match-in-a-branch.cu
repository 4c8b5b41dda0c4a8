// expect: RTE
// The match stands in a branch that not all lanes of its mask take.

constexpr int THREADS = 256;
constexpr unsigned ALL = 0xffffffff;

__global__ void add(int *sums, const int *keys, const int *values, int n) {
    __shared__ int any;
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    if (i < n) {
        unsigned peers = __match_any_sync(ALL, keys[i]);
        int sum = __reduce_add_sync(peers, values[i]);
        if (lane == __ffs(peers) - 1) atomicAdd(&sums[keys[i]], sum);
        any = 1;
    }
    __syncthreads(); // lanes that wait here don't reach the match
    if (any == 2) sums[0] = 0;
}

extern "C" void warp_aggregate(int *sums, const int *keys, const int *values, int n, int groups) {
    cudaMemsetAsync(sums, 0, groups * sizeof(int));
    if (n > 0) add<<<(n + THREADS - 1) / THREADS, THREADS>>>(sums, keys, values, n);
}
