// expect: PART
// One kernel with three passes.

constexpr int THREADS = 256;

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

__global__ void softmax_kernel(float *__restrict__ out, const float *__restrict__ in, int cols) {
    const float *row = in + (size_t)blockIdx.x * cols;
    float *result = out + (size_t)blockIdx.x * cols;
    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) most = fmaxf(most, row[i]);
    most = block_max(most);
    for (int i = threadIdx.x; i < cols; i += THREADS) sum += expf(row[i] - most);
    sum = block_sum(sum);
    for (int i = threadIdx.x; i < cols; i += THREADS) result[i] = expf(row[i] - most) / sum;
}

extern "C" void softmax(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    softmax_kernel<<<rows, THREADS>>>(out, in, cols);
}
