// expect: RTE
// Reads four samples ahead even if fewer remain.

constexpr int DELAY = 40, AHEAD = 4;

__global__ void echo(float *out, const float *in, int signals, int length) {
    extern __shared__ float ring[]; // [slot][thread]
    int t = threadIdx.x, s = blockIdx.x * blockDim.x + t;
    if (s >= signals) return;
    for (int slot = 0; slot < DELAY; slot++) ring[slot * blockDim.x + t] = 0.0f;
    for (int first = 0; first < length; first += AHEAD) {
        float x[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) x[a] = in[(size_t)(first + a) * signals + s];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            int j = first + a;
            if (j >= length) break;
            float *old = &ring[j % DELAY * blockDim.x + t];
            *old = x[a] + 0.5f * *old;
            out[(size_t)j * signals + s] = *old;
        }
    }
}

static size_t shared_bytes(int threads) {
    return DELAY * threads * sizeof(float);
}

static int best_threads() {
    int best = 32, most = 0;
    for (int threads = 32; threads <= 1024 && shared_bytes(threads) <= 48 << 10; threads += 32) {
        int blocks = 0;
        if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, echo, threads, shared_bytes(threads)) !=
            cudaSuccess)
            continue;
        if (blocks * threads > most) most = blocks * threads, best = threads;
    }
    return best;
}

extern "C" void block_size(float *out, const float *in, int signals, int length) {
    if (signals == 0 || length == 0) return;
    const int threads = best_threads();
    echo<<<(signals + threads - 1) / threads, threads, shared_bytes(threads)>>>(out, in, signals, length);
}
