// expect: PART
// Waits for the stream at the end.
constexpr int THREADS = 256;

// Half as many numbers: next[i] = level[2 i - 1] / 4 + level[2 i] / 2 + level[2 i + 1] / 4.
__global__ void shrink(float *__restrict__ next, const float *__restrict__ level, int count) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) next[i] = 0.25f * level[max(2 * i - 1, 0)] + 0.5f * level[2 * i] + 0.25f * level[2 * i + 1];
}

extern "C" void pyramid(float *out, const float *in, int n, int levels) {
    if (n == 0) return;
    const float *source = in;
    float *level = nullptr; // the temporary that holds `source`
    for (int l = 1; l <= levels; l++) {
        int count = n >> l;
        float *next = out;
        if (l < levels) cudaMallocAsync(&next, count * sizeof *next, 0);
        shrink<<<(count + THREADS - 1) / THREADS, THREADS>>>(next, source, count);
        if (level) cudaFreeAsync(level, 0);
        level = next, source = next;
    }
    cudaStreamSynchronize(0);
}
