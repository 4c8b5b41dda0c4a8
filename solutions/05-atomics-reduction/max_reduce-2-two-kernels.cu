// Step 2: blocks store their results, a second launch of the same kernel reduces those. No atomics.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 for each of 132 SMs

__device__ float warp_max(float v) {
    for (int distance = 16; distance > 0; distance /= 2)
        v = fmaxf(v, __shfl_down_sync(0xffffffff, v, distance));
    return v;
}

__global__ void reduce(float *__restrict__ out, const float *__restrict__ in, int n) {
    __shared__ float part[WARPS];
    float most = -INFINITY;
    int step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) most = fmaxf(most, in[i]);

    most = warp_max(most);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    most = warp_max(threadIdx.x < WARPS ? part[threadIdx.x] : -INFINITY);
    if (threadIdx.x == 0) out[blockIdx.x] = most;
}

extern "C" void max_reduce(float *out, const float *in, int n) {
    int blocks = min((n + THREADS - 1) / THREADS, MAX_BLOCKS);
    float *part = nullptr;
    if (blocks > 0 && cudaMalloc(&part, blocks * sizeof(float)) != cudaSuccess) return;
    if (blocks > 0) reduce<<<blocks, THREADS>>>(part, in, n);
    reduce<<<1, THREADS>>>(out, part, blocks);
    cudaFree(part);
}
