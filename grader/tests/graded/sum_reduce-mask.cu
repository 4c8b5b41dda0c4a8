// The second sum of a block calls a shuffle with a full mask in half a warp.
// at first: not graded
// expect: RTE 0 0
// says: shuffle from an inactive lane
constexpr int THREADS = 256, WARPS = THREADS / 32; // tune: THREADS 64 128 256 512 1024

__device__ float warp_sum(float v) {
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(0xffffffff, v, distance);
    return v;
}

__global__ void warp_a_row(float *__restrict__ sums, const float *__restrict__ in, int rows, int cols) {
    int lane = threadIdx.x % 32, r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= rows) return; // the whole warp
    const float *row = in + (size_t)r * cols;
    float sum = 0.0f;
    for (int i = lane; i < cols; i += 32) sum += row[i];
    sum = warp_sum(sum);
    if (lane == 0) sums[r] = sum;
}

__global__ void block_a_row(float *__restrict__ sums, const float *__restrict__ in, int cols) {
    __shared__ float part[WARPS];
    const float *row = in + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < cols; i += THREADS) sum += row[i];

    sum = warp_sum(sum);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    if (t >= 16) return;
    sum = warp_sum(t < WARPS ? part[t] : 0.0f);
    if (t == 0) sums[blockIdx.x] = sum;
}

extern "C" void sum_reduce(float *sums, const float *in, int rows, int cols) {
    if (rows == 0) return;
    const bool many = rows >= 8192; // an H200 holds 132 * 64 = 8448 warps
    if (many || cols <= THREADS)
        warp_a_row<<<(rows + WARPS - 1) / WARPS, THREADS>>>(sums, in, rows, cols);
    else
        block_a_row<<<rows, THREADS>>>(sums, in, cols);
}
