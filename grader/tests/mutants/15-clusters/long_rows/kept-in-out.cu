// expect: PART
// The row is read once, and its exponentials wait in `out`, which is then read.

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

__global__ void softmax(float *out, const float *__restrict__ in, int cols) {
    size_t start = (size_t)blockIdx.x * cols;
    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) { // relative to this thread's largest element; the last pass corrects it
        float v = in[start + i];
        if (v > most) sum *= expf(most - v), most = v;
        sum += expf(v - most), out[start + i] = v;
    }
    float row_most = block_max(most);
    float scale = 1.0f / block_sum(sum * expf(most - row_most));
    for (int i = threadIdx.x; i < cols; i += THREADS) out[start + i] = expf(out[start + i] - row_most) * scale;
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows > 0 && cols > 0) softmax<<<rows, THREADS>>>(out, in, cols);
}
