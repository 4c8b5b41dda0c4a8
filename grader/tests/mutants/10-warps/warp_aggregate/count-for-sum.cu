// expect: WA
// The lanes are counted, and the first one's value is taken that many times.

constexpr int THREADS = 256, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs
constexpr int AHEAD = 4, TILE = THREADS * AHEAD; // elements of a block in flight
constexpr unsigned ALL = 0xffffffff;

__global__ void add(int *__restrict__ sums, const int *__restrict__ keys, const int *__restrict__ values, int n) {
    int lane = threadIdx.x % 32;
    for (int base = blockIdx.x * TILE; base < n; base += gridDim.x * TILE) { // all threads of a block continue or return
        int key[AHEAD], value[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            int i = base + k * THREADS + threadIdx.x;
            key[k] = i < n ? keys[i] : -1, value[k] = i < n ? values[i] : 0;
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            unsigned peers = __match_any_sync(ALL, key[k]); // the lanes with the same key
            int sum = value[k] * __popc(peers);
            if (key[k] >= 0 && lane == __ffs(peers) - 1) atomicAdd(&sums[key[k]], sum);
        }
    }
}

extern "C" void warp_aggregate(int *sums, const int *keys, const int *values, int n, int groups) {
    cudaMemsetAsync(sums, 0, groups * sizeof(int));
    if (n > 0) add<<<min((n + TILE - 1) / TILE, MAX_BLOCKS), THREADS>>>(sums, keys, values, n);
}
