// vector_loads: out[start + i] = factor * in[start + i] for i < n; what lies before and after stays as it is.

__global__ void scale(float *__restrict__ out, const float *__restrict__ in, float factor, int start, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: a lane can move 16 bytes with one instruction, if they start at a multiple of 16.
    if (i < n) out[start + i] = factor * in[start + i];
}

extern "C" void vector_loads(float *out, const float *in, float factor, int start, int n) {
    if (n == 0) return;
    const int threads = 256;
    scale<<<(n + threads - 1) / threads, threads>>>(out, in, factor, start, n);
}
