// expect: RTE
// Writes sums past the end of the other blocks' memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int THREADS = 512, BLOCKS = 8; // in a cluster

// Returns to all threads the block's totals: x is the sum, y the number of elements.
__device__ float2 block_sum(float2 v) {
    __shared__ float2 part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        v.x += __shfl_xor_sync(0xffffffff, v.x, distance);
        v.y += __shfl_xor_sync(0xffffffff, v.y, distance);
    }
    __syncthreads(); // all threads have read the previous contents
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = {0.0f, 0.0f};
    for (int w = 0; w < THREADS / 32; w++) v.x += part[w].x, v.y += part[w].y;
    return v;
}

// Sum and number of the elements above the threshold.
__device__ void add(float2 &to, float x, float at) {
    if (x > at) to.x += x, to.y += 1.0f;
}
__device__ void add(float2 &to, float4 v, float at) {
    add(to, v.x, at), add(to, v.y, at), add(to, v.z, at), add(to, v.w, at);
}

// `length`: words or vectors in a row.
template <class V>
__global__ void __cluster_dims__(BLOCKS) find(float *__restrict__ out, const V *__restrict__ in, int length) {
    extern __shared__ float4 room[];
    V *kept = reinterpret_cast<V *>(room);   // only thread i mod THREADS accesses element i
    cg::cluster_group cluster = cg::this_cluster();
    auto started = cluster.barrier_arrive(); // no block may write to one that has not started
    int rank = cluster.block_rank(), piece = (length + BLOCKS - 1) / BLOCKS, first = min(rank * piece, length),
        size = min(piece, length - first);
    size_t start = (size_t)(blockIdx.x / BLOCKS) * length + first;
#pragma unroll 8
    for (int i = threadIdx.x; i < size; i += THREADS) kept[i] = __ldcs(&in[start + i]);
    cluster.barrier_wait(std::move(started));

    float at = -INFINITY;
    for (int k = 0;; k ^= 1) {
        float2 mine = {0.0f, 0.0f}, all = {0.0f, 0.0f};
#pragma unroll 4
        for (int i = threadIdx.x; i < size; i += THREADS) add(mine, kept[i], at);
        mine = block_sum(mine);
        if (threadIdx.x < BLOCKS) *cluster.map_shared_rank(&reinterpret_cast<float2 *>(kept + piece)[k * BLOCKS + rank], threadIdx.x) = mine;
        cluster.sync(); // all threads have written, and have read what the next round overwrites
        for (int r = 0; r < BLOCKS; r++) all.x += reinterpret_cast<float2 *>(kept + piece)[k * BLOCKS + r].x, all.y += reinterpret_cast<float2 *>(kept + piece)[k * BLOCKS + r].y;
        float next = (all.x - 1.0f) / all.y;
        if (!(next > at)) break; // the same in all blocks, because all add the same numbers
        at = next;
    }
    if (rank == 0 && threadIdx.x == 0) out[blockIdx.x / BLOCKS] = at;
}

template <class V> void launch(float *out, const float *in, int rows, int length) {
    int bytes = (length + BLOCKS - 1) / BLOCKS * sizeof(V);
    cudaFuncSetAttribute(find<V>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    find<V><<<rows * BLOCKS, THREADS, bytes>>>(out, reinterpret_cast<const V *>(in), length);
}

extern "C" void threshold(float *out, const float *in, int rows, int cols) {
    if (rows == 0) return;
    if (cols % 4 == 0)
        launch<float4>(out, in, rows, cols / 4);
    else
        launch<float>(out, in, rows, cols);
}
