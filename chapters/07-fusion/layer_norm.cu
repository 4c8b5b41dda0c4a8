// layer_norm: with h = x + residual, row by row: out = (h - mean) / sqrt(variance + 1e-5) * gamma + beta.

constexpr int THREADS = 256; // tune: THREADS 64 128 256 512 1024

__device__ float block_sum(float v) {
    __shared__ float part[THREADS];
    part[threadIdx.x] = v;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) part[threadIdx.x] += part[threadIdx.x + distance];
        __syncthreads();
    }
    return part[0];
}

__global__ void add(float *h, const float *x, const float *residual, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) h[i] = x[i] + residual[i];
}

__global__ void row_mean(float *mean, const float *h, int cols) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) sum += h[(size_t)blockIdx.x * cols + i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) mean[blockIdx.x] = sum / cols;
}

__global__ void row_variance(float *variance, const float *mean, const float *h, int cols) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        float d = h[(size_t)blockIdx.x * cols + i] - mean[blockIdx.x];
        sum += d * d;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) variance[blockIdx.x] = sum / cols;
}

__global__ void normalise(float *out, const float *h, const float *mean, const float *variance,
                          const float *gamma, const float *beta, int cols) {
    size_t start = (size_t)blockIdx.x * cols;
    float scale = rsqrtf(variance[blockIdx.x] + 1e-5f);
    for (int i = threadIdx.x; i < cols; i += THREADS)
        out[start + i] = (h[start + i] - mean[blockIdx.x]) * scale * gamma[i] + beta[i];
}

extern "C" void layer_norm(float *out, const float *x, const float *residual, const float *gamma,
                           const float *beta, int rows, int cols) {
    size_t n = (size_t)rows * cols;
    if (n == 0) return;
    float *h;
    if (cudaMalloc(&h, sizeof(float) * (n + 2 * (size_t)rows)) != cudaSuccess) return;
    float *mean = h + n, *variance = mean + rows;
    // TODO: four kernels; h is stored once and loaded three times
    add<<<(n + THREADS - 1) / THREADS, THREADS>>>(h, x, residual, n);
    row_mean<<<rows, THREADS>>>(mean, h, cols);
    row_variance<<<rows, THREADS>>>(variance, mean, h, cols);
    normalise<<<rows, THREADS>>>(out, h, mean, variance, gamma, beta, cols);
    cudaFree(h);
}
