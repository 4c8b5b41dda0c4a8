// window_sum: the model solution. A block loads 1024 elements and one at either side, four windows a thread, so
// that a thread has four loads under way before the barrier. Outside the array lies 0.

constexpr int THREADS = 256, EACH = 4, TILE = THREADS * EACH; // tune: EACH 1 2 4 8

__global__ void window(int *__restrict__ out, const int *__restrict__ in, int n) {
    __shared__ int tile[TILE + 2]; // tile[s + 1] is the element of window s
    int t = threadIdx.x, first = blockIdx.x * TILE;

    for (int k = 0; k < EACH; k++) {
        int s = k * THREADS + t;
        tile[s + 1] = first + s < n ? in[first + s] : 0;
    }
    if (t == 0) tile[0] = first > 0 ? in[first - 1] : 0;
    if (t == 32) tile[TILE + 1] = first + TILE < n ? in[first + TILE] : 0;
    __syncthreads();

    for (int k = 0; k < EACH; k++) {
        int s = k * THREADS + t;
        if (first + s < n) out[first + s] = tile[s] + tile[s + 1] + tile[s + 2];
    }
}

extern "C" void window_sum(int *out, const int *in, int n) {
    if (n == 0) return;
    window<<<(n + TILE - 1) / TILE, THREADS>>>(out, in, n);
}
