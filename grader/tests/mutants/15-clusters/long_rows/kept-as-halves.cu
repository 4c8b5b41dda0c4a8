// expect: WA
// Keeps the elements as halves, with eleven bits.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

constexpr int THREADS = 512, BLOCKS = 8; // in a cluster

__device__ float block_max(float v) {
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, distance));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++) v = fmaxf(v, part[w]);
    return v;
}

__device__ float block_sum(float v) {
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffff, v, distance);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int w = 0; w < THREADS / 32; w++) v += part[w];
    return v;
}

__global__ void __cluster_dims__(BLOCKS) softmax(float *__restrict__ out, const float *__restrict__ in, int cols) {
    extern __shared__ half kept[]; // only thread i mod THREADS accesses element i
    __shared__ float block_most, sum_of_block;
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank(), piece = (cols + BLOCKS - 1) / BLOCKS, first = min(rank * piece, cols),
        size = min(piece, cols - first);
    size_t at = (size_t)(blockIdx.x / BLOCKS) * cols + first;

    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < size; i += THREADS) most = fmaxf(most, __half2float(kept[i] = __float2half(in[at + i])));
    most = block_max(most);
    if (threadIdx.x == 0) block_most = most;
    cluster.sync(); // all threads have their values
    for (int r = 0; r < BLOCKS; r++) most = fmaxf(most, *cluster.map_shared_rank(&block_most, r));

    for (int i = threadIdx.x; i < size; i += THREADS) sum += __half2float(kept[i] = __float2half(expf(__half2float(kept[i]) - most)));
    sum = block_sum(sum);
    if (threadIdx.x == 0) sum_of_block = sum;
    cluster.sync();
    float row_sum = 0.0f;
    for (int r = 0; r < BLOCKS; r++) row_sum += *cluster.map_shared_rank(&sum_of_block, r);
    for (int i = threadIdx.x; i < size; i += THREADS) out[at + i] = __half2float(kept[i]) / row_sum;
    cluster.sync(); // no block ends before all blocks have read
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    int bytes = (cols + BLOCKS - 1) / BLOCKS * sizeof(float);
    cudaFuncSetAttribute(softmax, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    softmax<<<rows * BLOCKS, THREADS, bytes>>>(out, in, cols);
}
