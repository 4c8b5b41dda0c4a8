// alias_trap: the model solution. No store stands in the loop, so eight samples are loaded before the first of them
// is used. The one overlap that the contract allows is tested: if the sample is the level, the register
// has its value, and the loaded value is not used.

constexpr int AHEAD = 8;

__global__ void alias_trap_kernel(float *level, const float *x, const float *rate, int signals, int length) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= signals) return;

    const float r = rate[s];
    float now = level[s];
    for (int first = 0; first < length; first += AHEAD) {
        const float *row = x + (size_t)first * signals + s;
        float sample[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) sample[k] = first + k < length ? row[(size_t)k * signals] : 0;
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            bool is_level = row + (size_t)k * signals == level + s;
            if (first + k < length) now += r * ((is_level ? now : sample[k]) - now);
        }
    }
    level[s] = now;
}

extern "C" void alias_trap(float *level, const float *x, const float *rate, int signals, int length) {
    if (signals == 0) return;
    const int threads = 128;
    alias_trap_kernel<<<(signals + threads - 1) / threads, threads>>>(level, x, rate, signals, length);
}
