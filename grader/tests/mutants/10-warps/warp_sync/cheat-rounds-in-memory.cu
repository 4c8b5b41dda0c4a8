// expect: PART
// Each round is a kernel that reads and writes global memory: no barrier, no shared memory.

constexpr int THREADS = 256;

__global__ void exchange(int *data, int n, int size, int distance) {
    int pair = blockIdx.x * THREADS + threadIdx.x, low = pair / distance * 2 * distance + pair % distance;
    int high = low + distance;
    bool up = (low & size & 31) == 0 || size == 32;
    if (low >= n) return;
    if (high >= n) return;
    int a = data[low], b = data[high];
    if (a > b == up) data[low] = b, data[high] = a;
}

__global__ void finish(int *data, int first, int n) { // the last, shorter group
    for (int a = first + 1; a < n; a++) {
        int mine = data[a], b = a;
        for (; b > first && data[b - 1] > mine; b--) data[b] = data[b - 1];
        data[b] = mine;
    }
}

extern "C" void warp_sync(int *data, int n) {
    int whole = n / 32 * 32;
    for (int size = 2; size <= 32 && whole > 0; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2)
            exchange<<<(whole / 2 + THREADS - 1) / THREADS, THREADS>>>(data, whole, size, distance);
    if (whole < n) finish<<<1, 1>>>(data, whole, n);
}
