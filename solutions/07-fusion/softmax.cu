// softmax: the model solution. A row that fits stays in shared memory from its only read to the result: the
// maximum while it is read, then each exponential once, kept in its element's place. A longer row is read
// twice: once for maximum and sum together (online), once for the result.

constexpr int THREADS = 256, WARPS = THREADS / 32; // tune: THREADS 64 128 256 512 1024
constexpr int KEPT = 12288 - 64; // floats of a row that a block keeps: 48 KB minus the space of the reductions

__device__ float warp_max(float v) {
    for (int distance = 16; distance > 0; distance /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, distance));
    return v;
}

__device__ float warp_sum(float v) {
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffff, v, distance);
    return v;
}

__device__ float block_max(float v, float *part) {
    v = warp_max(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) v = fmaxf(v, part[w]);
    return v;
}

__device__ float block_sum(float v, float *part) {
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    float sum = 0.0f;
    for (int w = 0; w < WARPS; w++) sum += part[w];
    return sum;
}

__global__ void softmax_kept(float *__restrict__ out, const float *__restrict__ in, int cols) {
    extern __shared__ float kept[]; // only thread i mod THREADS accesses element i
    __shared__ float part[2][WARPS];
    const size_t start = (size_t)blockIdx.x * cols;
    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) most = fmaxf(most, kept[i] = in[start + i]);
    most = block_max(most, part[0]);
    for (int i = threadIdx.x; i < cols; i += THREADS) sum += kept[i] = expf(kept[i] - most);
    float scale = 1.0f / block_sum(sum, part[1]);
    for (int i = threadIdx.x; i < cols; i += THREADS) out[start + i] = kept[i] * scale;
}

__global__ void softmax_long(float *__restrict__ out, const float *__restrict__ in, int cols) {
    __shared__ float part[2][WARPS];
    const size_t start = (size_t)blockIdx.x * cols;
    float most = -INFINITY, sum = 0.0f; // sum of exp(x - most) over the elements this thread has read
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        float x = in[start + i];
        if (x > most)
            sum = sum * expf(most - x) + 1.0f, most = x;
        else
            sum += expf(x - most);
    }
    float row_most = block_max(most, part[0]);
    float scale = 1.0f / block_sum(sum * expf(most - row_most), part[1]);
    for (int i = threadIdx.x; i < cols; i += THREADS) out[start + i] = expf(in[start + i] - row_most) * scale;
}

extern "C" void softmax(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    if (cols <= KEPT)
        softmax_kept<<<rows, THREADS, cols * sizeof(float)>>>(out, in, cols);
    else
        softmax_long<<<rows, THREADS>>>(out, in, cols);
}
