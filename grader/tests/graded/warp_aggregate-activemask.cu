// The lanes with the key of a loop's round are taken from __activemask().
// at first: not graded
// expect: WA 0 0
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
            int first = __shfl_sync(ALL, key[k], 0);
            if (key[k] >= 0 && key[k] == first) {
                unsigned peers = __activemask();
                int sum = __reduce_add_sync(peers, value[k]);
                if (lane == 0) atomicAdd(&sums[key[k]], sum);
            } else if (key[k] >= 0) atomicAdd(&sums[key[k]], value[k]);
        }
    }
}

extern "C" void warp_aggregate(int *sums, const int *keys, const int *values, int n, int groups) {
    cudaMemsetAsync(sums, 0, groups * sizeof(int));
    if (n > 0) add<<<min((n + TILE - 1) / TILE, MAX_BLOCKS), THREADS>>>(sums, keys, values, n);
}
