// softmax: out[r][i] = exp(in[r][i] - m) / sum over k of exp(in[r][k] - m), m being the largest of row r.

constexpr int THREADS = 256; // tune: THREADS 64 128 256 512 1024

__device__ float block_max(float v) {
    __shared__ float part[THREADS];
    part[threadIdx.x] = v;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance)
            part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + distance]);
        __syncthreads();
    }
    return part[0];
}

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

__global__ void row_max(float *most, const float *in, int cols) {
    const float *row = in + (size_t)blockIdx.x * cols;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < cols; i += THREADS) m = fmaxf(m, row[i]);
    m = block_max(m);
    if (threadIdx.x == 0) most[blockIdx.x] = m;
}

__global__ void row_sum(float *sum, const float *most, const float *in, int cols) {
    const float *row = in + (size_t)blockIdx.x * cols;
    float s = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) s += expf(row[i] - most[blockIdx.x]);
    s = block_sum(s);
    if (threadIdx.x == 0) sum[blockIdx.x] = s;
}

__global__ void normalise(float *out, const float *most, const float *sum, const float *in, int cols) {
    size_t start = (size_t)blockIdx.x * cols;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        out[start + i] = expf(in[start + i] - most[blockIdx.x]) / sum[blockIdx.x];
}

extern "C" void softmax(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    float *most;
    if (cudaMalloc(&most, 2 * sizeof(float) * rows) != cudaSuccess) return;
    float *sum = most + rows;
    // TODO: three kernels, each of which reads all of `in`
    row_max<<<rows, THREADS>>>(most, in, cols);
    row_sum<<<rows, THREADS>>>(sum, most, in, cols);
    normalise<<<rows, THREADS>>>(out, most, sum, in, cols);
    cudaFree(most);
}
