// expect: WA
// Only x is normalised.

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int KEPT = 12288 - 64; // floats of a row that a block keeps: 48 KB minus the space of the sums

__device__ float warp_sum(float v) {
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffff, v, distance);
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

__global__ void layer_norm_kernel(float *__restrict__ out, const float *__restrict__ x,
                                  const float *__restrict__ residual, const float *__restrict__ gamma,
                                  const float *__restrict__ beta, int cols) {
    extern __shared__ float kept[];
    __shared__ float part[2][WARPS]; // each sum has its own slot, so none is overwritten while another thread reads it
    const bool keep = cols <= KEPT;
    const size_t start = (size_t)blockIdx.x * cols;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        float h = x[start + i];
        if (keep) kept[i] = h; // read again by this thread only
        sum += h;
    }
    float mean = block_sum(sum, part[0]) / cols;

    sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        float d = (keep ? kept[i] : x[start + i] + residual[start + i]) - mean;
        sum += d * d;
    }
    float scale = rsqrtf(block_sum(sum, part[1]) / cols + 1e-5f);

    for (int i = threadIdx.x; i < cols; i += THREADS) {
        float h = keep ? kept[i] : x[start + i] + residual[start + i];
        out[start + i] = (h - mean) * scale * gamma[i] + beta[i];
    }
}

extern "C" void layer_norm(float *out, const float *x, const float *residual, const float *gamma,
                           const float *beta, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    layer_norm_kernel<<<rows, THREADS, cols <= KEPT ? cols * sizeof(float) : 0>>>(out, x, residual, gamma,
                                                                                  beta, cols);
}
