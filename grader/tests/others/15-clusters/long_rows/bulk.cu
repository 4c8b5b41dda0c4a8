// A bulk copy for each block of the cluster brings its part of the row into shared memory, where it stays.
#include <cfloat>
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

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
    extern __shared__ __align__(128) float kept[];
    __shared__ float2 of[BLOCKS];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier there;
    cg::cluster_group cluster = cg::this_cluster();
    auto started = cluster.barrier_arrive();
    int rank = cluster.block_rank(), piece = (cols + BLOCKS * 4 - 1) / (BLOCKS * 4) * 4, first = min(rank * piece, cols),
        size = min(piece, cols - first);
    size_t at = (size_t)(blockIdx.x / BLOCKS) * cols + first;

    if (cols % 4 == 0) { // 16 bytes at addresses that are multiples of 16
        if (threadIdx.x == 0) init(&there, 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            if (size > 0) cuda::memcpy_async(kept, in + at, cuda::aligned_size_t<16>(size * sizeof(float)), there);
            there.wait(there.arrive());
        }
        __syncthreads();
    } else {
        for (int i = threadIdx.x; i < size; i += THREADS) kept[i] = in[at + i];
        __syncthreads();
    }
    float most = -FLT_MAX, sum = 0.0f;
    for (int i = threadIdx.x; i < size; i += THREADS) most = fmaxf(most, kept[i]);
    most = block_max(most);
    for (int i = threadIdx.x; i < size; i += THREADS) sum += kept[i] = expf(kept[i] - most);
    sum = block_sum(sum);
    cluster.barrier_wait(std::move(started));
    if (threadIdx.x < BLOCKS) *cluster.map_shared_rank(&of[rank], threadIdx.x) = {most, sum};
    cluster.sync();
    float row_most = -FLT_MAX, row_sum = 0.0f;
    for (int r = 0; r < BLOCKS; r++) row_most = fmaxf(row_most, of[r].x);
    for (int r = 0; r < BLOCKS; r++) row_sum += of[r].y * expf(of[r].x - row_most);
    float scale = expf(most - row_most) / row_sum;
    for (int i = threadIdx.x; i < size; i += THREADS) out[at + i] = kept[i] * scale;
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    int bytes = (cols + BLOCKS * 4 - 1) / (BLOCKS * 4) * 4 * sizeof(float);
    cudaFuncSetAttribute(softmax, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    softmax<<<rows * BLOCKS, THREADS, bytes>>>(out, in, cols);
}
