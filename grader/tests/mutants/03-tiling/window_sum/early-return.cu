// expect: RTE
// Threads without an element return before they store a 0 in the tile.

constexpr int THREADS = 256;

__global__ void window(int *__restrict__ out, const int *__restrict__ in, int n) {
    __shared__ int tile[THREADS + 2]; // tile[t + 1] is the element of thread t
    int t = threadIdx.x;
    int i = blockIdx.x * THREADS + t;

    if (i >= n) return;
    tile[t + 1] = in[i];
    if (t == 0) tile[0] = i > 0 ? in[i - 1] : 0;
    if (t == THREADS - 1) tile[THREADS + 1] = i + 1 < n ? in[i + 1] : 0;
    __syncthreads();

    if (i < n) out[i] = tile[t] + tile[t + 1] + tile[t + 2];
}

extern "C" void window_sum(int *out, const int *in, int n) {
    if (n == 0) return;
    window<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, n);
}
