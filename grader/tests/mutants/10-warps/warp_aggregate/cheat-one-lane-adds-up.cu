// expect: PART
// The first lane looks at 32 elements in shared memory and joins equal neighbours there: no crowd, and 31 lanes that wait.

constexpr int THREADS = 256, MOST_BLOCKS = 1056;

__global__ void add(int *sums, const int *keys, const int *values, int n) {
    __shared__ int key[THREADS], value[THREADS];
    int t = threadIdx.x, lane = t % 32, warp = t - lane, step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + t; i - lane < n; i += step) {
        key[t] = i < n ? keys[i] : -1;
        value[t] = i < n ? values[i] : 0;
        __syncwarp();
        if (lane == 0) {
            for (int a = warp; a < warp + 32; a++) {
                if (key[a] < 0) continue;
                int sum = value[a], mine = key[a];
                for (int b = a + 1; b < warp + 32; b++)
                    if (key[b] == mine) sum += value[b], key[b] = -1;
                atomicAdd(&sums[mine], sum);
            }
        }
        __syncwarp();
    }
}

extern "C" void warp_aggregate(int *sums, const int *keys, const int *values, int n, int groups) {
    cudaMemsetAsync(sums, 0, groups * sizeof(int));
    if (n > 0) add<<<min((n + THREADS - 1) / THREADS, MOST_BLOCKS), THREADS>>>(sums, keys, values, n);
}
