// launch_bounds: a bank of 48 filters on many signals: out[c][s] is the sum over j of in[j][s] * gain[j][c].
// A thread handles a signal, with a sum for each filter in a register.

constexpr int FILTERS = 48, THREADS = 512; // tune: THREADS 128 256 512

// TODO: nobody has told the compiler how large the blocks are, and how many of them are to fit on an SM. How
// many registers does it take, and how many blocks fit then? What could you promise it?
__global__ void filter_bank(float *__restrict__ out, const float *__restrict__ in,
                            const float *__restrict__ gain, int signals, int length) {
    int s = blockIdx.x * THREADS + threadIdx.x;
    if (s >= signals) return;
    const float4 *gains = reinterpret_cast<const float4 *>(gain);
    float sum[FILTERS] = {};
#pragma unroll 1
    for (int j = 0; j < length; j++, gains += FILTERS / 4) {
        float x = in[(size_t)j * signals + s];
#pragma unroll
        for (int c = 0; c < FILTERS; c += 4) {
            float4 g = gains[c / 4]; // uniform over the block
            sum[c] += x * g.x, sum[c + 1] += x * g.y, sum[c + 2] += x * g.z, sum[c + 3] += x * g.w;
        }
    }
#pragma unroll
    for (int c = 0; c < FILTERS; c++) out[(size_t)c * signals + s] = sum[c];
}

extern "C" void launch_bounds(float *out, const float *in, const float *gain, int signals, int length) {
    if (signals == 0) return;
    filter_bank<<<(signals + THREADS - 1) / THREADS, THREADS>>>(out, in, gain, signals, length);
}
