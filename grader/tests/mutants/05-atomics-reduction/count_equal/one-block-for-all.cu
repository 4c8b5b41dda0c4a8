// expect: PART
// Few atomics, since one block does all of the work, on one of 132 SMs.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 1056; // 8 blocks for each of 132 SMs

__device__ int warp_sum(int v) {
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(0xffffffff, v, distance);
    return v;
}

__global__ void clear(int *count) {
    *count = 0;
}

__global__ void count_kernel(int *__restrict__ count, const int *__restrict__ data, int value, int n) {
    __shared__ int part[WARPS];
    int found = 0, step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) found += data[i] == value;

    found = warp_sum(found);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = found;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    found = warp_sum(threadIdx.x < WARPS ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0 && found > 0) atomicAdd(count, found);
}

extern "C" void count_equal(int *count, const int *data, int value, int n) {
    clear<<<1, 1>>>(count);
    if (n == 0) return;
    count_kernel<<<1, THREADS>>>(count, data, value, n);
}
