// expect: PART
// Eight blocks are a cluster, exchange a number, and each reads the whole row for itself.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int THREADS = 1024, BLOCKS = 8;

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
    size_t start = (size_t)(blockIdx.x / BLOCKS) * cols;
    float most = -INFINITY, sum = 0.0f;
    __shared__ int shown;
    int rank = cg::this_cluster().block_rank();
    if (threadIdx.x == 0) *cg::this_cluster().map_shared_rank(&shown, rank) = rank;
    cg::this_cluster().sync();
    for (int i = threadIdx.x; i < cols; i += THREADS) most = fmaxf(most, in[start + i]);
    most = block_max(most);
    for (int i = threadIdx.x; i < cols; i += THREADS) sum += expf(in[start + i] - most);
    float scale = 1.0f / block_sum(sum);
    for (int i = rank * THREADS + threadIdx.x; i < cols; i += BLOCKS * THREADS) out[start + i] = expf(in[start + i] - most) * scale;
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows > 0 && cols > 0) softmax<<<rows * BLOCKS, THREADS>>>(out, in, cols);
}
