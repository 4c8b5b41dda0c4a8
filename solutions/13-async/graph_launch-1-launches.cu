// Step 1: three launches for each round.

constexpr int THREADS = 256;

__global__ void multiply(float *__restrict__ y, const float *__restrict__ x, const float *shift, int k, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = 0.25f * x[max(i - 1, 0)] + 0.5f * x[i] + 0.25f * x[min(i + 1, n - 1)] + shift[k] * x[i];
}

// Positive floats compare as their bits do.
__global__ void find(float *largest, const float *__restrict__ y, int k, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned bits = __reduce_max_sync(~0u, i < n ? __float_as_uint(y[i]) : 0u);
    if (threadIdx.x % 32 == 0) atomicMax((unsigned *)largest + k, bits);
}

__global__ void divide(float *__restrict__ x, const float *__restrict__ y, const float *largest, int k, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) x[i] = y[i] / largest[k];
}

extern "C" void graph_launch(float *x, float *largest, const float *shift, int n, int rounds) {
    if (rounds == 0) return;
    float *y;
    cudaMallocAsync(&y, n * sizeof(float), 0);
    cudaMemsetAsync(largest, 0, rounds * sizeof(float), 0);
    int blocks = (n + THREADS - 1) / THREADS;
    for (int k = 0; k < rounds; k++) {
        multiply<<<blocks, THREADS>>>(y, x, shift, k, n);
        find<<<blocks, THREADS>>>(largest, y, k, n);
        divide<<<blocks, THREADS>>>(x, y, largest, k, n);
    }
    cudaFreeAsync(y, 0);
}
