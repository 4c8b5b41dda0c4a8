// expect: PART
// Blocks of one warp, whose barrier is a barrier of the warp: waiting costs less, and is still a barrier of the block.

constexpr int THREADS = 32;

__global__ void sort_groups(int *data, int n) {
    __shared__ int key[THREADS];
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * THREADS + t;
    key[t] = i < n ? data[i] : INT_MAX; // the padding of the last group sorts to its end
    __syncthreads();
    for (int size = 2; size <= 32; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            int mine = key[t], other = key[t ^ distance];
            __syncthreads(); // all threads have read
            bool up = (lane & size) == 0, low = (lane & distance) == 0; // in ascending order, the lower lane takes the smaller one
            key[t] = up == low ? min(mine, other) : max(mine, other);
            __syncthreads(); // all threads have written
        }
    if (i < n) data[i] = key[t];
}

extern "C" void warp_sync(int *data, int n) {
    if (n > 0) sort_groups<<<(n + THREADS - 1) / THREADS, THREADS>>>(data, n);
}
