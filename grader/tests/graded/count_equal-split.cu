// The pointer is put together from two halves, and blocks race behind it.
// at first: AC 100
// expect: RTE 0 0
// says: race
// count_equal: the model answer. Each thread counts vectors of four elements in a register, a warp adds up by
// shuffles, a block through one shared word a warp, and comes to global memory once.

constexpr int THREADS = 1024, WARPS = THREADS / 32, MOST_BLOCKS = 264; // 8 blocks for each of 132 SMs
// tune: THREADS 128 256 512 1024
// tune: MOST_BLOCKS 264 528 1056 2112

__device__ int warp_sum(int v) {
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(0xffffffff, v, distance);
    return v;
}

__global__ void count_kernel(unsigned lo, const int *__restrict__ data, int value, int n, unsigned hi) {
    int *count = (int *)((unsigned long long)hi << 32 | lo); __shared__ int part[WARPS];
    const int4 *vectors = reinterpret_cast<const int4 *>(data); // an array begins on a boundary of 256 bytes
    int first = blockIdx.x * THREADS + threadIdx.x, step = gridDim.x * THREADS, found = 0;
    for (int i = first; i < n / 4; i += step) {
        int4 v = vectors[i];
        found += (v.x == value) + (v.y == value) + (v.z == value) + (v.w == value);
    }
    if (n / 4 * 4 + first < n) found += data[n / 4 * 4 + first] == value; // at most three are left

    found = warp_sum(found);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = found;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    found = warp_sum(threadIdx.x < WARPS ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0 && found > 0) *count = *count + found;
}

extern "C" void count_equal(int *count, const int *data, int value, int n) {
    cudaMemsetAsync(count, 0, sizeof *count);
    if (n == 0) return;
    count_kernel<<<min((n / 4 + THREADS) / THREADS, MOST_BLOCKS), THREADS>>>((unsigned)(unsigned long long)count, data, value, n, (unsigned)((unsigned long long)count >> 32));
}
