// expect: PART
// One launch, one block: it can wait for itself, and all other SMs are idle.
constexpr int THREADS = 1024;

__global__ void all_rounds(float *x, float *y, float *largest, const float *shift, int n, int rounds) {
    __shared__ unsigned most;
    for (int k = 0; k < rounds; k++) {
        if (threadIdx.x == 0) most = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += THREADS) {
            y[i] = 0.25f * x[max(i - 1, 0)] + 0.5f * x[i] + 0.25f * x[min(i + 1, n - 1)] + shift[k] * x[i];
            atomicMax(&most, __float_as_uint(y[i]));
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += THREADS) x[i] = y[i] / __uint_as_float(most);
        if (threadIdx.x == 0) largest[k] = __uint_as_float(most);
        __syncthreads();
    }
}

extern "C" void graph_launch(float *x, float *largest, const float *shift, int n, int rounds) {
    if (rounds == 0) return;
    float *y;
    cudaMallocAsync(&y, n * sizeof(float), 0);
    all_rounds<<<1, THREADS>>>(x, y, largest, shift, n, rounds);
    cudaFreeAsync(y, 0);
}
