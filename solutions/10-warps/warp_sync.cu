// warp_sync: the model solution. Keys stay in registers, and a shuffle waits for the lanes of its mask by itself: there is no barrier
// to be forgotten. A warp sorts two groups at a time, so that one's shuffles fill the time in which the other's are under way.

constexpr int THREADS = 256, AT_ONCE = 2; // groups of a warp
constexpr unsigned ALL = 0xffffffff;

__global__ void sort_groups(int *data, int n) {
    int lane = threadIdx.x % 32, i = (blockIdx.x * THREADS + threadIdx.x - lane) * AT_ONCE + lane, key[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) // the padding of the last group sorts to its end
        key[k] = i + 32 * k < n ? data[i + 32 * k] : INT_MAX;
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int distance = size / 2; distance > 0; distance /= 2) {
            bool up = (lane & size) == 0, low = (lane & distance) == 0; // in ascending order, the lower lane takes the smaller one
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                int other = __shfl_xor_sync(ALL, key[k], distance);
                key[k] = up == low ? min(key[k], other) : max(key[k], other);
            }
        }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
        if (i + 32 * k < n) data[i + 32 * k] = key[k];
}

extern "C" void warp_sync(int *data, int n) {
    const int tile = THREADS * AT_ONCE;
    if (n > 0) sort_groups<<<(n + tile - 1) / tile, THREADS>>>(data, n);
}
