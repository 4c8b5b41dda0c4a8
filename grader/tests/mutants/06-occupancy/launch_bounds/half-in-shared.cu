// expect: PART
// Half of the sums are parked in shared memory by hand: no spill that ptxas would report, and the same
// traffic.

constexpr int FILTERS = 48, THREADS = 512;

__global__ void __launch_bounds__(THREADS, 2)
    filter_bank(float *__restrict__ out, const float *__restrict__ in, const float *__restrict__ gain,
                int signals, int length) {
    int s = blockIdx.x * THREADS + threadIdx.x;
    if (s >= signals) return;
    const float4 *gains = reinterpret_cast<const float4 *>(gain);
    __shared__ float parked[FILTERS / 2][THREADS];
    float sum[FILTERS / 2] = {};
    for (int c = 0; c < FILTERS / 2; c++) parked[c][threadIdx.x] = 0.0f;
#pragma unroll 1
    for (int j = 0; j < length; j++, gains += FILTERS / 4) {
        float x = in[(size_t)j * signals + s];
#pragma unroll
        for (int c = 0; c < FILTERS; c += 4) {
            float4 g = gains[c / 4]; // uniform over the block
            float product[4] = {x * g.x, x * g.y, x * g.z, x * g.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (c < FILTERS / 2)
                    sum[c + i] += product[i];
                else
                    parked[c + i - FILTERS / 2][threadIdx.x] += product[i];
        }
    }
#pragma unroll
    for (int c = 0; c < FILTERS; c++)
        out[(size_t)c * signals + s] = c < FILTERS / 2 ? sum[c] : parked[c - FILTERS / 2][threadIdx.x];
}

extern "C" void launch_bounds(float *out, const float *in, const float *gain, int signals, int length) {
    if (signals == 0) return;
    filter_bank<<<(signals + THREADS - 1) / THREADS, THREADS>>>(out, in, gain, signals, length);
}
