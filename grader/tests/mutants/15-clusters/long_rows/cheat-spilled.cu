// expect: PART
// A thread of 1024 keeps 128 elements in registers that it has not: ptxas puts them into local memory.

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

__global__ void __launch_bounds__(THREADS) softmax(float *__restrict__ out, const float *__restrict__ in, int cols) {
    size_t start = (size_t)blockIdx.x * cols;
    float most = -INFINITY, sum = 0.0f;
    float kept[128];
#pragma unroll
    for (int k = 0, i = threadIdx.x; k < 128; k++, i += THREADS) kept[k] = i < cols ? in[start + i] : -INFINITY;
#pragma unroll
    for (int k = 0; k < 128; k++) most = fmaxf(most, kept[k]);
    most = block_max(most);
#pragma unroll
    for (int k = 0; k < 128; k++) sum += kept[k] = expf(kept[k] - most);
    float scale = 1.0f / block_sum(sum);
#pragma unroll
    for (int k = 0, i = threadIdx.x; k < 128; k++, i += THREADS)
        if (i < cols) out[start + i] = kept[k] * scale;
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows > 0 && cols > 0) softmax<<<rows, THREADS>>>(out, in, cols);
}
