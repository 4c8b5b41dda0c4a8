// segmented_sum by CUB's warp reduction with flags, for the lesson's "In practice".
#include <cub/warp/warp_reduce.cuh>

constexpr int THREADS = 256, WARPS = THREADS / 32;
using reduction = cub::WarpReduce<float>;

__global__ void add(float *sums, const float *values, const int *segment, int n) {
    __shared__ reduction::TempStorage room[WARPS];
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    int mine = i < n ? segment[i] : -1;
    bool begins = lane == 0 || i >= n || segment[i - 1] != mine;
    float sum = reduction(room[threadIdx.x / 32]).HeadSegmentedSum(i < n ? values[i] : 0.0f, begins);
    if (begins && mine >= 0) atomicAdd(&sums[mine], sum);
}

extern "C" void segmented_sum(float *sums, const float *values, const int *segment, int n, int segments) {
    cudaMemsetAsync(sums, 0, segments * sizeof(float));
    if (n > 0) add<<<(n + THREADS - 1) / THREADS, THREADS>>>(sums, values, segment, n);
}
