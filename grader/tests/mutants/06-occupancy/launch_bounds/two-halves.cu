// expect: PART
// 24 sums a thread, and each sample loaded twice.

constexpr int FILTERS = 48, THREADS = 256;

__global__ void __launch_bounds__(THREADS, 4)
    filter_bank(float *__restrict__ out, const float *__restrict__ in, const float *__restrict__ gain,
                int signals, int length) {
    int s = blockIdx.x * THREADS + threadIdx.x;
    if (s >= signals) return;
    gain += blockIdx.y * (FILTERS / 2);
    out += (size_t)blockIdx.y * (FILTERS / 2) * signals;
    float sum[FILTERS / 2] = {};
#pragma unroll 1
    for (int j = 0; j < length; j++) {
        float x = in[(size_t)j * signals + s];
#pragma unroll
        for (int c = 0; c < FILTERS / 2; c++) sum[c] += x * gain[j * FILTERS + c];
    }
#pragma unroll
    for (int c = 0; c < FILTERS / 2; c++) out[(size_t)c * signals + s] = sum[c];
}

extern "C" void launch_bounds(float *out, const float *in, const float *gain, int signals, int length) {
    if (signals == 0) return;
    filter_bank<<<dim3((signals + THREADS - 1) / THREADS, 2), THREADS>>>(out, in, gain, signals, length);
}
