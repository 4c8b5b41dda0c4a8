// expect: PART
// A block keeps the elements that fit in its shared memory and reads the others three times.

constexpr int THREADS = 1024, KEPT = 57344;

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
    extern __shared__ float kept[];
    int most_kept = min(cols, KEPT);
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        float v = in[start + i];
        if (i < most_kept) kept[i] = v;
        most = fmaxf(most, v);
    }
    most = block_max(most);
    for (int i = threadIdx.x; i < cols; i += THREADS) sum += expf((i < most_kept ? kept[i] : in[start + i]) - most);
    float scale = 1.0f / block_sum(sum);
    for (int i = threadIdx.x; i < cols; i += THREADS) out[start + i] = expf((i < most_kept ? kept[i] : in[start + i]) - most) * scale;
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    int bytes = KEPT * sizeof(float);
    cudaFuncSetAttribute(softmax, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    softmax<<<rows, THREADS, bytes>>>(out, in, cols);
}
