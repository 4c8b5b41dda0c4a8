// expect: RTE|WA
// Lanes beyond the end return before the first shuffle, whose mask names them.

constexpr int THREADS = 256;
constexpr unsigned ALL = 0xffffffff;

__global__ void sort_groups(int *data, int n) {
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * THREADS + t;
    if (i >= n) return;
    int key = i < n ? data[i] : INT_MAX; // the padding of the last group sorts to its end
    for (int size = 2; size <= 32; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            int other = __shfl_xor_sync(ALL, key, distance);
            bool up = (lane & size) == 0, low = (lane & distance) == 0; // in ascending order, the lower lane takes the smaller one
            key = up == low ? min(key, other) : max(key, other);
        }
    if (i < n) data[i] = key;
}

extern "C" void warp_sync(int *data, int n) {
    if (n > 0) sort_groups<<<(n + THREADS - 1) / THREADS, THREADS>>>(data, n);
}
