// The last block takes the maximum of all blocks, which store theirs without a fence.
// at first: not graded
// expect: RTE 0 0
// says: no __threadfence() between that and the store of the flag
constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs

__device__ float warp_max(float v) {
    for (int distance = 16; distance > 0; distance /= 2)
        v = fmaxf(v, __shfl_down_sync(0xffffffff, v, distance));
    return v;
}

__device__ void atomic_max(float *out, float v) {
    int bits = __float_as_int(v); // tests the sign bit: -0.0f < 0 is false
    if (bits >= 0)
        atomicMax((int *)out, bits);
    else
        atomicMin((unsigned *)out, (unsigned)bits);
}

__global__ void start(float *out) {
    *out = -INFINITY;
}

__device__ float maxima[MAX_BLOCKS];
__device__ unsigned finished;

__global__ void reduce(float *__restrict__ out, const float *__restrict__ in, int n) {
    __shared__ float part[WARPS];
    __shared__ bool is_last;
    float most = -INFINITY;
    int step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) most = fmaxf(most, in[i]);
    most = warp_max(most);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++) most = fmaxf(most, part[w]);
        maxima[blockIdx.x] = most;
        is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x >= 32) return;
    most = -INFINITY;
    for (int b = threadIdx.x; b < gridDim.x; b += 32) most = fmaxf(most, maxima[b]);
    most = warp_max(most);
    if (threadIdx.x == 0) *out = most, finished = 0;
}

extern "C" void max_reduce(float *out, const float *in, int n) {
    start<<<1, 1>>>(out);
    if (n == 0) return;
    reduce<<<min((n + THREADS - 1) / THREADS, MAX_BLOCKS), THREADS>>>(out, in, n);
}
