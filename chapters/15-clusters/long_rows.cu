// long_rows: out[r][i] = exp(in[r][i] - m) / sum over k of exp(in[r][k] - m), m being the largest of row r. Rows of up to 131 072 elements.

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
    // TODO: three passes read the row three times. It is too long for the shared memory of one block.
    for (int i = threadIdx.x; i < cols; i += THREADS) most = fmaxf(most, in[start + i]);
    most = block_max(most);
    for (int i = threadIdx.x; i < cols; i += THREADS) sum += expf(in[start + i] - most);
    float scale = 1.0f / block_sum(sum);
    for (int i = threadIdx.x; i < cols; i += THREADS) out[start + i] = expf(in[start + i] - most) * scale;
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows > 0 && cols > 0) softmax<<<rows, THREADS>>>(out, in, cols);
}
