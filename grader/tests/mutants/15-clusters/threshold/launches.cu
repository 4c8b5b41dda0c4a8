// expect: PART
// A launch for each round.

constexpr int THREADS = 512, BLOCKS = 8, ROUNDS = 24; // BLOCKS: blocks per row

__device__ float block_sum(float v) {
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffff, v, distance);
    __syncthreads(); // all threads have read the previous contents
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int w = 0; w < THREADS / 32; w++) v += part[w];
    return v;
}

// By block of a row: sum and number of the elements above the threshold.
__global__ void look(float *sums, float *counts, const float *t, const float *in, int cols, bool first) {
    size_t row = blockIdx.x / BLOCKS, start = row * cols;
    float at = first ? -INFINITY : t[row], sum = 0.0f, n = 0.0f;
    for (int i = blockIdx.x % BLOCKS * THREADS + threadIdx.x; i < cols; i += BLOCKS * THREADS) {
        float x = in[start + i];
        if (x > at) sum += x, n += 1.0f;
    }
    sum = block_sum(sum);
    n = block_sum(n);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum, counts[blockIdx.x] = n;
}

__global__ void rise(float *t, const float *sums, const float *counts, int rows, bool first) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f, n = 0.0f;
    for (int b = row * BLOCKS; b < (row + 1) * BLOCKS; b++) sum += sums[b], n += counts[b];
    float next = (sum - 1.0f) / n;
    if (first || next > t[row]) t[row] = next;
}

extern "C" void threshold(float *out, const float *in, int rows, int cols) {
    if (rows == 0) return;
    float *sums;
    if (cudaMalloc(&sums, 2 * rows * BLOCKS * sizeof(float)) != cudaSuccess) return;
    float *counts = sums + rows * BLOCKS;
    for (int k = 0; k < ROUNDS; k++) {
        look<<<rows * BLOCKS, THREADS>>>(sums, counts, out, in, cols, k == 0);
        rise<<<(rows + 255) / 256, 256>>>(out, sums, counts, rows, k == 0);
    }
    cudaFree(sums);
}
