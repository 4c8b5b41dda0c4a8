// expect: WA
// Block 0 resets the count when it starts, while others may have counted.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs

__device__ float warp_sum(float v) {
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(0xffffffff, v, distance);
    return v;
}

// Returns the sum of the block's values to thread 0. All threads call it.
__device__ float block_sum(float v) {
    __shared__ float part[WARPS];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) v = warp_sum(threadIdx.x < WARPS ? part[threadIdx.x] : 0.0f);
    __syncthreads(); // the next call may write to `part`
    return v;
}

__device__ float part[MAX_BLOCKS]; // by block: the sum of its squares
__device__ unsigned finished;      // blocks that have stored their part

__global__ void norm(float *__restrict__ out, const float *__restrict__ in, int n) {
    __shared__ bool is_last;
    float sum = 0.0f;
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicExch(&finished, 0);
    int step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) sum += in[i] * in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = sum;
        __threadfence(); // the part is visible before the count
        is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
        __threadfence(); // the other blocks' parts are read after it
    }
    __syncthreads(); // every thread sees is_last
    if (!is_last) return;
    sum = 0.0f;
    for (int b = threadIdx.x; b < gridDim.x; b += THREADS) sum += part[b];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = sqrtf(sum);
}

extern "C" void last_block(float *out, const float *in, int n) {
    int blocks = min((n + THREADS - 1) / THREADS, MAX_BLOCKS);
    norm<<<max(blocks, 1), THREADS>>>(out, in, n);
}
