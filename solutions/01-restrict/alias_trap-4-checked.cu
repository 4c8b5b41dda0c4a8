// Step 4: the level in a register, too. The one overlap that the contract allows is tested: if the
// sample is the level, the register has its value. One store per signal, for one comparison per step.

__global__ void alias_trap_kernel(float *level, const float *x, const float *rate, int signals, int length) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= signals) return;

    const float r = rate[s];
    float now = level[s];
    for (int j = 0; j < length; j++) {
        const float *sample = &x[(size_t)j * signals + s];
        now += r * ((sample == &level[s] ? now : *sample) - now);
    }
    level[s] = now;
}

extern "C" void alias_trap(float *level, const float *x, const float *rate, int signals, int length) {
    if (signals == 0) return;
    const int threads = 128;
    alias_trap_kernel<<<(signals + threads - 1) / threads, threads>>>(level, x, rate, signals, length);
}
