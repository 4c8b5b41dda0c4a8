// alias_trap: each signal's level follows the signal; x holds `length` rows of `signals` samples.
// level may be one of the rows of x. rate overlaps nothing.

__global__ void alias_trap_kernel(float *level, const float *x, const float *rate, int signals, int length) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= signals) return;

    // TODO: rate[s] never changes, yet it is loaded at each step. One of the three pointers may carry a
    // promise that ends this. The other two may not: find out which calls would break.
    for (int j = 0; j < length; j++) level[s] += rate[s] * (x[(size_t)j * signals + s] - level[s]);
}

extern "C" void alias_trap(float *level, const float *x, const float *rate, int signals, int length) {
    if (signals == 0) return;
    const int threads = 128;
    alias_trap_kernel<<<(signals + threads - 1) / threads, threads>>>(level, x, rate, signals, length);
}
