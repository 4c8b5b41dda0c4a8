// expect: PART
// The first lane sorts 32 keys by insertion in shared memory: hardly a barrier, and 31 lanes that wait.

constexpr int THREADS = 256;

__global__ void sort_groups(int *data, int n) {
    __shared__ int key[THREADS];
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * THREADS + t;
    key[t] = i < n ? data[i] : INT_MAX;
    __syncwarp();
    if (lane == 0)
        for (int a = 1; a < 32; a++) {
            int mine = key[t + a], b = a;
            for (; b > 0 && key[t + b - 1] > mine; b--) key[t + b] = key[t + b - 1];
            key[t + b] = mine;
        }
    __syncwarp();
    if (i < n) data[i] = key[t];
}

extern "C" void warp_sync(int *data, int n) {
    if (n > 0) sort_groups<<<(n + THREADS - 1) / THREADS, THREADS>>>(data, n);
}
