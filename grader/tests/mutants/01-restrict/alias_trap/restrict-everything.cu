// expect: WA
// All three promised: the level stays in a register, and the row of x that it lives in is read too old.

__global__ void alias_trap_kernel(float *__restrict__ level, const float *__restrict__ x,
                                  const float *__restrict__ rate, int signals, int length) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= signals) return;

    for (int j = 0; j < length; j++) level[s] += rate[s] * (x[(size_t)j * signals + s] - level[s]);
}

extern "C" void alias_trap(float *level, const float *x, const float *rate, int signals, int length) {
    if (signals == 0) return;
    const int threads = 128;
    alias_trap_kernel<<<(signals + threads - 1) / threads, threads>>>(level, x, rate, signals, length);
}
