// The result's address goes through shared memory, in two halves, before blocks add to it by plain stores.
// at first: not graded
// expect: RTE 0 0
// says: race
constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs
// tune: THREADS 128 256 512 1024
// tune: MAX_BLOCKS 264 528 1056 2112

__device__ int warp_sum(int v) {
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(0xffffffff, v, distance);
    return v;
}

__global__ void count_kernel(int *__restrict__ count, const int *__restrict__ data, int value, int n) {
    __shared__ int part[WARPS];
    const int4 *vectors = reinterpret_cast<const int4 *>(data); // an array begins on a boundary of 256 bytes
    int first = blockIdx.x * THREADS + threadIdx.x, step = gridDim.x * THREADS, found = 0;
    for (int i = first; i < n / 4; i += step) {
        int4 v = vectors[i];
        found += (v.x == value) + (v.y == value) + (v.z == value) + (v.w == value);
    }
    if (n / 4 * 4 + first < n) found += data[n / 4 * 4 + first] == value; // at most three remain

    found = warp_sum(found);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = found;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    found = warp_sum(threadIdx.x < WARPS ? part[threadIdx.x] : 0);
    __shared__ unsigned half[2];
    if (threadIdx.x == 0) {
        half[0] = (unsigned)(size_t)count ^ 0x1234, half[1] = (size_t)count >> 32;
        int *hidden = (int *)((unsigned long long)half[1] << 32 | (half[0] ^ 0x1234));
        if (found > 0) *hidden += found;
    }
}

extern "C" void count_equal(int *count, const int *data, int value, int n) {
    cudaMemsetAsync(count, 0, sizeof *count);
    if (n == 0) return;
    count_kernel<<<min((n / 4 + THREADS) / THREADS, MAX_BLOCKS), THREADS>>>(count, data, value, n);
}
