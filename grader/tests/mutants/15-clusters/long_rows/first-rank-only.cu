// expect: RTE|WA
// A block sends its result only to the first block of the cluster.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int THREADS = 512, BLOCKS = 8; // in a cluster
// tune: THREADS 256 512 1024

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

__device__ float largest(float v) {
    return v;
}
__device__ float largest(float4 v) {
    return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
}
// Replaces x by its exponential; returns that, or the sum of the four.
__device__ float raise(float &v, float shift) {
    return v = expf(v - shift);
}
__device__ float raise(float4 &v, float shift) {
    return raise(v.x, shift) + raise(v.y, shift) + raise(v.z, shift) + raise(v.w, shift);
}
__device__ float scaled(float v, float by) {
    return v * by;
}
__device__ float4 scaled(float4 v, float by) {
    return {v.x * by, v.y * by, v.z * by, v.w * by};
}

// `length`: words or vectors in a row.
template <class V>
__global__ void __cluster_dims__(BLOCKS) softmax(V *__restrict__ out, const V *__restrict__ in, int length) {
    extern __shared__ float4 room[];
    __shared__ float2 of[BLOCKS];            // by block of the cluster: its largest element and its sum
    V *kept = reinterpret_cast<V *>(room);   // only thread i mod THREADS accesses element i
    cg::cluster_group cluster = cg::this_cluster();
    auto started = cluster.barrier_arrive(); // no block may write to one that has not started
    int rank = cluster.block_rank(), piece = (length + BLOCKS - 1) / BLOCKS, first = min(rank * piece, length),
        size = min(piece, length - first);
    size_t at = (size_t)(blockIdx.x / BLOCKS) * length + first;

    float most = -INFINITY, sum = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < size; i += THREADS) most = fmaxf(most, largest(kept[i] = in[at + i]));
    most = block_max(most);
#pragma unroll 4
    for (int i = threadIdx.x; i < size; i += THREADS) sum += raise(kept[i], most);
    sum = block_sum(sum);

    cluster.barrier_wait(std::move(started));
    if (threadIdx.x == 0) *cluster.map_shared_rank(&of[rank], 0) = {most, sum};
    cluster.sync();
    float row_most = -INFINITY, row_sum = 0.0f;
    for (int r = 0; r < BLOCKS; r++) row_most = fmaxf(row_most, of[r].x);
    for (int r = 0; r < BLOCKS; r++) row_sum += of[r].y * expf(of[r].x - row_most);
    float scale = expf(most - row_most) / row_sum;
#pragma unroll 4
    for (int i = threadIdx.x; i < size; i += THREADS) out[at + i] = scaled(kept[i], scale);
}

template <class V> void launch(float *out, const float *in, int rows, int length) {
    int bytes = (length + BLOCKS - 1) / BLOCKS * sizeof(V);
    cudaFuncSetAttribute(softmax<V>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    softmax<V><<<rows * BLOCKS, THREADS, bytes>>>(reinterpret_cast<V *>(out), reinterpret_cast<const V *>(in), length);
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    if (cols % 4 == 0)
        launch<float4>(out, in, rows, cols / 4);
    else
        launch<float>(out, in, rows, cols);
}
