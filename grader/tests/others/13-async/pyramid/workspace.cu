// One temporary from the pool for all levels.
constexpr int THREADS = 256;

// Half as many numbers: next[i] = level[2 i - 1] / 4 + level[2 i] / 2 + level[2 i + 1] / 4.
__global__ void shrink(float *__restrict__ next, const float *__restrict__ level, int count) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) next[i] = 0.25f * level[max(2 * i - 1, 0)] + 0.5f * level[2 * i] + 0.25f * level[2 * i + 1];
}

extern "C" void pyramid(float *out, const float *in, int n, int levels) {
    if (n == 0) return;
    float *workspace = nullptr; // two levels at a time
    if (levels > 1) cudaMallocAsync(&workspace, (n / 2 + n / 4) * sizeof *workspace, 0);
    const float *level = in;
    for (int l = 1; l <= levels; l++) {
        int count = n >> l;
        float *next = l == levels ? out : workspace + (l % 2 ? 0 : n / 2);
        shrink<<<(count + THREADS - 1) / THREADS, THREADS>>>(next, level, count);
        level = next;
    }
    if (workspace) cudaFreeAsync(workspace, 0);
}
