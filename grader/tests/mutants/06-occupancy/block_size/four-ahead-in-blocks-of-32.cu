// expect: PART
// Four loads per warp are in flight, so it is fast, but the SM is half empty.

constexpr int DELAY = 40, AHEAD = 4;

__global__ void echo(float *out, const float *in, int signals, int length) {
    extern __shared__ float ring[]; // [slot][thread]
    int t = threadIdx.x, s = blockIdx.x * blockDim.x + t;
    if (s >= signals) return;
    for (int slot = 0; slot < DELAY; slot++) ring[slot * blockDim.x + t] = 0.0f;
    for (int first = 0; first < length; first += AHEAD) {
        float x[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            if (first + a < length) x[a] = in[(size_t)(first + a) * signals + s];
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

extern "C" void block_size(float *out, const float *in, int signals, int length) {
    if (signals == 0 || length == 0) return;
    const int threads = 32;
    echo<<<(signals + threads - 1) / threads, threads, DELAY * threads * sizeof(float)>>>(out, in, signals,
                                                                                          length);
}
