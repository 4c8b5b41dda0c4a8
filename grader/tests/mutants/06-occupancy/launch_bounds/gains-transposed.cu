// expect: WA
// The gains are read as if each filter had a row.

constexpr int FILTERS = 48, THREADS = 512;

__global__ void __launch_bounds__(THREADS, 2)
    filter_bank(float *__restrict__ out, const float *__restrict__ in, const float *__restrict__ gain,
                int signals, int length) {
    int s = blockIdx.x * THREADS + threadIdx.x;
    if (s >= signals) return;
    float sum[FILTERS] = {};
#pragma unroll 1
    for (int j = 0; j < length; j++) {
        float x = in[(size_t)j * signals + s];
#pragma unroll
        for (int c = 0; c < FILTERS; c++) {
            sum[c] += x * gain[c * length + j];
        }
    }
#pragma unroll
    for (int c = 0; c < FILTERS; c++) out[(size_t)c * signals + s] = sum[c];
}

extern "C" void launch_bounds(float *out, const float *in, const float *gain, int signals, int length) {
    if (signals == 0) return;
    filter_bank<<<(signals + THREADS - 1) / THREADS, THREADS>>>(out, in, gain, signals, length);
}
