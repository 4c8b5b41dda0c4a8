// expect: PART
// A thread keeps its 128 elements in an array that is indexed by a variable: local memory, which is memory.

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

__global__ void softmax(float *__restrict__ out, const float *__restrict__ in, int cols) {
    size_t start = (size_t)blockIdx.x * cols;
    float most = -INFINITY, sum = 0.0f;
    float kept[128];
#pragma unroll 1
    for (int i = threadIdx.x, k = 0; i < cols; i += THREADS, k++) most = fmaxf(most, kept[k] = in[start + i]);
    most = block_max(most);
#pragma unroll 1
    for (int i = threadIdx.x, k = 0; i < cols; i += THREADS, k++) sum += kept[k] = expf(kept[k] - most);
    float scale = 1.0f / block_sum(sum);
#pragma unroll 1
    for (int i = threadIdx.x, k = 0; i < cols; i += THREADS, k++) out[start + i] = kept[k] * scale;
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows > 0 && cols > 0) softmax<<<rows, THREADS>>>(out, in, cols);
}
