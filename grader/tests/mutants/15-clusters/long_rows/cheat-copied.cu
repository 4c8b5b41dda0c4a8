// expect: PART
// The row goes to memory of its own by copies beside the kernel, which does not make the second read one of a row less.

constexpr int THREADS = 1024;

__device__ float block_max(float v) {
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, distance));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++) v = fmaxf(v, part[w]);
    return v;
}

__device__ float block_sum(float v) {
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffff, v, distance);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int w = 0; w < THREADS / 32; w++) v += part[w];
    return v;
}

__global__ void softmax(float *__restrict__ out, const float *__restrict__ in, const float *__restrict__ again, const float *__restrict__ last, int cols) {
    size_t start = (size_t)blockIdx.x * cols;
    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) most = fmaxf(most, in[start + i]);
    most = block_max(most);
    for (int i = threadIdx.x; i < cols; i += THREADS) sum += expf(again[start + i] - most);
    float scale = 1.0f / block_sum(sum);
    for (int i = threadIdx.x; i < cols; i += THREADS) out[start + i] = expf(last[start + i] - most) * scale;
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    float *copy;
    size_t n = (size_t)rows * cols;
    if (cudaMalloc(&copy, 2 * n * sizeof(float)) != cudaSuccess) return;
    cudaMemcpyAsync(copy, in, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(copy + n, in, n * sizeof(float), cudaMemcpyDeviceToDevice);
    softmax<<<rows, THREADS>>>(out, in, copy, copy + n, cols);
    cudaFree(copy);
}
