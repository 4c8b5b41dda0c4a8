// expect: PART
// The scan's sums lie in global memory, one kernel a round: no barrier, no shared memory.

constexpr int THREADS = 256;

__global__ void round_of(float *to, const float *from, const int *segment, int n, int d) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) to[i] = from[i] + (i % 32 + d < 32 && i + d < n && segment[i + d] == segment[i] ? from[i + d] : 0.0f);
}

__global__ void add(float *sums, const float *from, const int *segment, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n && (i % 32 == 0 || segment[i - 1] != segment[i])) atomicAdd(&sums[segment[i]], from[i]);
}

extern "C" void segmented_sum(float *sums, const float *values, const int *segment, int n, int segments) {
    cudaMemsetAsync(sums, 0, segments * sizeof(float));
    if (n == 0) return;
    float *room = nullptr;
    cudaMalloc(&room, 2 * n * sizeof(float));
    int blocks = (n + THREADS - 1) / THREADS, turn = 0;
    const float *from = values;
    for (int d = 1; d < 32; d *= 2, turn ^= 1) {
        float *to = room + (turn ? n : 0);
        round_of<<<blocks, THREADS>>>(to, from, segment, n, d);
        from = to;
    }
    add<<<blocks, THREADS>>>(sums, from, segment, n);
    cudaFree(room);
}
