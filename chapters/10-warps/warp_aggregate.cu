// warp_aggregate: sums[g] is the sum of the values whose key is g.

constexpr int THREADS = 256, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs

__global__ void add(int *sums, const int *keys, const int *values, int n) {
    int step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
        // TODO: many lanes of a warp have the same key, and each goes to memory. One of them could go for all.
        atomicAdd(&sums[keys[i]], values[i]);
    }
}

extern "C" void warp_aggregate(int *sums, const int *keys, const int *values, int n, int groups) {
    cudaMemsetAsync(sums, 0, groups * sizeof(int));
    if (n > 0) add<<<min((n + THREADS - 1) / THREADS, MAX_BLOCKS), THREADS>>>(sums, keys, values, n);
}
