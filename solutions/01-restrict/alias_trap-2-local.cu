// Step 2: the rate in a local variable, loaded once. No promise, and nothing that a caller could break.

__global__ void alias_trap_kernel(float *level, const float *x, const float *rate, int signals, int length) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= signals) return;

    const float r = rate[s];
    for (int j = 0; j < length; j++) level[s] += r * (x[(size_t)j * signals + s] - level[s]);
}

extern "C" void alias_trap(float *level, const float *x, const float *rate, int signals, int length) {
    if (signals == 0) return;
    const int threads = 128;
    alias_trap_kernel<<<(signals + threads - 1) / threads, threads>>>(level, x, rate, signals, length);
}
