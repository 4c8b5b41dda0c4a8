// threshold: out[r] is the number t for which the sum of max(in[r][i] - t, 0) over row r is 1. Rows of 1 to 131 072 elements.

constexpr int THREADS = 512, BLOCKS = 8, ROUNDS = 24; // BLOCKS: of a row

// What all threads of the block have, in all of them: x the sum, y the number of elements.
__device__ float2 block_sum(float2 v) {
    __shared__ float2 part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        v.x += __shfl_xor_sync(0xffffffff, v.x, distance);
        v.y += __shfl_xor_sync(0xffffffff, v.y, distance);
    }
    __syncthreads(); // all have read what was there before
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = {0.0f, 0.0f};
    for (int w = 0; w < THREADS / 32; w++) v.x += part[w].x, v.y += part[w].y;
    return v;
}

// Where the threshold goes from `at`, by what the row's blocks found in the round before.
__device__ float next(const float2 *found, float at) {
    float2 all = {0.0f, 0.0f};
    for (int b = 0; b < BLOCKS; b++) all.x += found[b].x, all.y += found[b].y;
    return fmaxf(at, (all.x - 1.0f) / all.y);
}

__global__ void round(float *t, float2 *found, const float *__restrict__ in, int cols, int k) {
    size_t row = blockIdx.x / BLOCKS;
    // TODO: each round is a launch, which reads all of `in` again.
    float at = k == 0 ? -INFINITY : next(&found[((k - 1) % 2 * (gridDim.x / BLOCKS) + row) * BLOCKS], t[(k - 1) % 2 * (gridDim.x / BLOCKS) + row]);
    float2 mine = {0.0f, 0.0f};
    for (int i = blockIdx.x % BLOCKS * THREADS + threadIdx.x; i < cols; i += BLOCKS * THREADS) {
        float x = in[row * cols + i];
        if (x > at) mine.x += x, mine.y += 1.0f;
    }
    mine = block_sum(mine);
    if (threadIdx.x == 0) found[k % 2 * gridDim.x + blockIdx.x] = mine;
    if (threadIdx.x == 0 && blockIdx.x % BLOCKS == 0) t[k % 2 * (gridDim.x / BLOCKS) + row] = at;
}

__global__ void last(float *out, const float *t, const float2 *found, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) out[row] = next(&found[((ROUNDS - 1) % 2 * rows + row) * BLOCKS], t[(ROUNDS - 1) % 2 * rows + row]);
}

extern "C" void threshold(float *out, const float *in, int rows, int cols) {
    if (rows == 0) return;
    float2 *found;
    if (cudaMalloc(&found, rows * (2 * BLOCKS * sizeof(float2) + 2 * sizeof(float))) != cudaSuccess) return;
    float *t = reinterpret_cast<float *>(found + 2 * rows * BLOCKS);
    for (int k = 0; k < ROUNDS; k++) round<<<rows * BLOCKS, THREADS>>>(t, found, in, cols, k);
    last<<<(rows + 255) / 256, 256>>>(out, t, found, rows);
    cudaFree(found);
}
