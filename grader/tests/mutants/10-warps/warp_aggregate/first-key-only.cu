// expect: PART
// Only the lanes with the first lane's key add up.

constexpr int THREADS = 256, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs
constexpr unsigned ALL = 0xffffffff;

__global__ void add(int *__restrict__ sums, const int *__restrict__ keys, const int *__restrict__ values, int n) {
    int lane = threadIdx.x % 32, step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i - lane < n; i += step) { // all lanes of a warp continue or return
        int key = i < n ? keys[i] : -1, value = i < n ? values[i] : 0;
        bool same = key == __shfl_sync(ALL, key, 0); // as lane 0
        int sum = __reduce_add_sync(ALL, same ? value : 0);
        if (lane == 0) value = sum;
        if (key >= 0 && (lane == 0 || !same)) atomicAdd(&sums[key], value);
    }
}

extern "C" void warp_aggregate(int *sums, const int *keys, const int *values, int n, int groups) {
    cudaMemsetAsync(sums, 0, groups * sizeof(int));
    if (n > 0) add<<<min((n + THREADS - 1) / THREADS, MAX_BLOCKS), THREADS>>>(sums, keys, values, n);
}
