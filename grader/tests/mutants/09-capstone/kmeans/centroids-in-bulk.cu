// expect: PART
// Each warp fetches the centroids by a bulk copy for its 32 points, which no load counts.
#include <cuda/ptx>
#include <stdint.h>
namespace ptx = cuda::ptx;
constexpr int DIMENSIONS = 4, THREADS = 256, MAX_CENTROIDS = 64;

__global__ void assign(int *label, const float *__restrict__ point, const float *__restrict__ centroid, int n, int k) {
    __shared__ alignas(16) float own[THREADS / 32][MAX_CENTROIDS * DIMENSIONS];
    __shared__ uint64_t arrived[THREADS / 32];
    int i = blockIdx.x * THREADS + threadIdx.x, warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        ptx::mbarrier_init(&arrived[warp], 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        uint32_t bytes = k * DIMENSIONS * sizeof(float);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived[warp], bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, own[warp], centroid, bytes, &arrived[warp]);
    }
    while (!ptx::mbarrier_try_wait_parity(&arrived[warp], 0)) {
    }
    if (i >= n) return;
    int nearest = 0;
    float least = INFINITY;
    for (int c = 0; c < k; c++) {
        float distance = 0.0f; // squared
        for (int d = 0; d < DIMENSIONS; d++) {
            float difference = point[i * DIMENSIONS + d] - own[warp][c * DIMENSIONS + d];
            distance += difference * difference;
        }
        if (distance < least) least = distance, nearest = c;
    }
    label[i] = nearest;
}

__global__ void accumulate(int *sum, int *count, const int *__restrict__ label, const float *__restrict__ point, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    int c = label[i];
    atomicAdd(&count[c], 1);
    for (int d = 0; d < DIMENSIONS; d++) atomicAdd(&sum[c * DIMENSIONS + d], __float2int_rn(256.0f * point[i * DIMENSIONS + d]));
}

extern "C" void kmeans(int *sum, int *count, const float *point, const float *centroid, int n, int k) {
    cudaMemsetAsync(sum, 0, k * DIMENSIONS * sizeof(int), 0);
    cudaMemsetAsync(count, 0, k * sizeof(int), 0);
    if (n == 0) return;
    int *label;
    int blocks = (n + THREADS - 1) / THREADS;
    cudaMallocAsync(&label, n * sizeof(int), 0);
    assign<<<blocks, THREADS>>>(label, point, centroid, n, k);
    accumulate<<<blocks, THREADS>>>(sum, count, label, point, n);
    cudaFreeAsync(label, 0);
}
