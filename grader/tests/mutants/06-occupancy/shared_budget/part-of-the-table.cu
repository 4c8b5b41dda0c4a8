// expect: WA
// Fetches only 48 KB; indices beyond wrap to the front.

constexpr int THREADS = 1024, KEPT = 12288; // 48 KB of floats

__global__ void look_up(float *__restrict__ out, const int *__restrict__ index,
                        const float *__restrict__ table, int n, int entries) {
    __shared__ float copy[KEPT];
    for (int e = threadIdx.x; e < min(entries, KEPT); e += THREADS) copy[e] = table[e];
    __syncthreads();
    int step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
        int e = index[i];
        out[i] = e < KEPT ? copy[e] : copy[e % KEPT];
    }
}

extern "C" void shared_budget(float *out, const int *index, const float *table, int n, int entries) {
    if (n == 0) return;
    look_up<<<min((n + THREADS - 1) / THREADS, 264), THREADS>>>(out, index, table, n,
                                                                entries); // 2 blocks for each of 132 SMs
}
