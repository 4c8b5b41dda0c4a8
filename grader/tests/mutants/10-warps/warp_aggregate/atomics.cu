// expect: PART
// An atomic for each element.

constexpr int THREADS = 256, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs

__global__ void add(int *sums, const int *keys, const int *values, int n) {
    int step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) atomicAdd(&sums[keys[i]], values[i]);
}

extern "C" void warp_aggregate(int *sums, const int *keys, const int *values, int n, int groups) {
    cudaMemsetAsync(sums, 0, groups * sizeof(int));
    if (n > 0) add<<<min((n + THREADS - 1) / THREADS, MAX_BLOCKS), THREADS>>>(sums, keys, values, n);
}
