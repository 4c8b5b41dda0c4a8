// expect: WA
// The group adds up in floats, which hold 24 bits.

constexpr int THREADS = 256, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs
constexpr unsigned ALL = 0xffffffff;

__global__ void add(int *__restrict__ sums, const int *__restrict__ keys, const int *__restrict__ values, int n) {
    int lane = threadIdx.x % 32, step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i - lane < n; i += step) { // all lanes of a warp continue or return
        int key = i < n ? keys[i] : -1, value = i < n ? values[i] : 0;
        for (unsigned left = __ballot_sync(ALL, key >= 0); left;) { // lanes that still hold their value
            int leader = __ffs(left) - 1;
            bool same = key == __shfl_sync(ALL, key, leader);
            float part = same ? value : 0;
            for (int d = 16; d > 0; d /= 2) part += __shfl_xor_sync(ALL, part, d);
            int sum = (int)part;
            if (lane == leader) atomicAdd(&sums[key], sum);
            left &= ~__ballot_sync(ALL, same);
        }
    }
}

extern "C" void warp_aggregate(int *sums, const int *keys, const int *values, int n, int groups) {
    cudaMemsetAsync(sums, 0, groups * sizeof(int));
    if (n > 0) add<<<min((n + THREADS - 1) / THREADS, MAX_BLOCKS), THREADS>>>(sums, keys, values, n);
}
