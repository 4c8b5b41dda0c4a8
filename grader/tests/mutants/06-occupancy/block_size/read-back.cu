// expect: PART
// No ring: reads the sample of 40 steps ago back from out.

__global__ void echo(float *out, const float *in, int signals, int length) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= signals) return;
    for (int j = 0; j < length; j++)
        out[(size_t)j * signals + s] =
            in[(size_t)j * signals + s] + (j >= 40 ? 0.5f * out[(size_t)(j - 40) * signals + s] : 0.0f);
}
extern "C" void block_size(float *out, const float *in, int signals, int length) {
    if (signals && length) echo<<<(signals + 255) / 256, 256>>>(out, in, signals, length);
}
