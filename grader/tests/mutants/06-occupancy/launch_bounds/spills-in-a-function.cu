// expect: PART spill_bytes
// Eight blocks on an SM, with the loop in a function of its own: the kernel spills nothing, what it calls does.

constexpr int FILTERS = 48, THREADS = 256;

__device__ __noinline__ void sum_all(const float *__restrict__ in, const float *__restrict__ gain, int signals,
                                     int length, float *__restrict__ out) {
    float part[FILTERS];
#pragma unroll
    for (int f = 0; f < FILTERS; f++) part[f] = 0;
    for (int j = 0; j < length; j++) {
        float x = in[(size_t)j * signals];
        const float4 *row = reinterpret_cast<const float4 *>(gain) + j * (FILTERS / 4);
#pragma unroll
        for (int f = 0; f < FILTERS; f += 4) {
            float4 g = row[f / 4];
            part[f] += g.x * x, part[f + 1] += g.y * x, part[f + 2] += g.z * x, part[f + 3] += g.w * x;
        }
    }
#pragma unroll
    for (int f = 0; f < FILTERS; f++) out[(size_t)f * signals] = part[f];
}

__global__ void __launch_bounds__(THREADS, 8)
    filter_bank(float *__restrict__ out, const float *__restrict__ in, const float *__restrict__ gain, int signals,
                int length) {
    int s = blockIdx.x * THREADS + threadIdx.x;
    if (s < signals) sum_all(in + s, gain, signals, length, out + s);
}

extern "C" void launch_bounds(float *out, const float *in, const float *gain, int signals, int length) {
    if (signals == 0) return;
    filter_bank<<<(signals + THREADS - 1) / THREADS, THREADS>>>(out, in, gain, signals, length);
}
