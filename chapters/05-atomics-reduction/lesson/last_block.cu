// What lesson 05 shows: the range of n floats, the largest less the smallest, in two launches, and in one, in which the last block to
// finish reads what all blocks have stored.
constexpr int THREADS = 256, WARPS = THREADS / 32, BLOCKS = 256;

__device__ float2 part[BLOCKS]; // by block: its smallest and its largest element
__device__ unsigned finished;   // blocks that have stored their part; 0 between launches

__device__ float2 merge(float2 a, float2 b) { return make_float2(fminf(a.x, b.x), fmaxf(a.y, b.y)); }

__device__ float2 warp_range(float2 v) {
    for (int d = 16; d > 0; d /= 2)
        v = merge(v, make_float2(__shfl_down_sync(0xffffffff, v.x, d), __shfl_down_sync(0xffffffff, v.y, d)));
    return v;
}

// Returns the block's range to thread 0.
__device__ float2 block_range(float2 v) {
    __shared__ float2 s[WARPS];
    v = warp_range(v);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = warp_range(s[threadIdx.x % WARPS]);
    __syncthreads();
    return v;
}

extern "C" __global__ void parts_of_blocks(const float *in) {
    float x = in[blockIdx.x * THREADS + threadIdx.x];
    float2 mine = block_range(make_float2(x, x));
    if (threadIdx.x == 0) part[blockIdx.x] = mine;
}

extern "C" __global__ void range_of_parts(float *range) {
    float2 all = block_range(part[threadIdx.x]);
    if (threadIdx.x == 0) *range = all.y - all.x;
}

extern "C" __global__ void range_at_once(float *range, const float *in) {
    __shared__ bool is_last;
    float x = in[blockIdx.x * THREADS + threadIdx.x];
    float2 mine = block_range(make_float2(x, x));
    if (threadIdx.x == 0) {
        part[blockIdx.x] = mine;
        __threadfence();                                       // other blocks see the part before the count
        is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
        __threadfence();                                       // this block reads the parts after the count
    }
    __syncthreads();                                           // all threads see is_last
    if (!is_last) return;
    float2 all = block_range(part[threadIdx.x]);
    if (threadIdx.x == 0) *range = all.y - all.x, finished = 0; // for the next launch
}

int main() {
    enum { N = BLOCKS * THREADS };
    static float host[N];
    for (int i = 0; i < N; i++) host[i] = i % 1000 - 300;
    float *in, *range, result;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&range, sizeof *range);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    parts_of_blocks<<<BLOCKS, THREADS>>>(in);
    range_of_parts<<<1, THREADS>>>(range);
    range_at_once<<<BLOCKS, THREADS>>>(range, in);
    if (cudaMemcpy(&result, range, sizeof result, cudaMemcpyDeviceToHost)) return 1;
    return result != 999;
}
