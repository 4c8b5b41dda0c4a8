// expect: RTE
// Writes into blocks that may not have started.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int THREADS = 512, BLOCKS = 8; // in a cluster
// tune: THREADS 256 512 1024

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

// Returns the thread's k-th element. Each thread has its own column, so the lanes of a warp access different banks.
__device__ float &place(float *kept, int k) {
    return kept[k * THREADS + threadIdx.x];
}
__device__ void take(float *kept, int &n, float &sum, float x) {
    place(kept, n++) = x, sum += x;
}
__device__ void take(float *kept, int &n, float &sum, float4 v) {
    take(kept, n, sum, v.x), take(kept, n, sum, v.y), take(kept, n, sum, v.z), take(kept, n, sum, v.w);
}

// `length`: words or vectors in a row.
template <class V>
__global__ void __cluster_dims__(BLOCKS) find(float *__restrict__ out, const V *__restrict__ in, int length) {
    extern __shared__ float kept[];
    __shared__ float2 found[2][BLOCKS];      // by block of the cluster: its result in this round and the previous one
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank(), piece = (length + BLOCKS - 1) / BLOCKS, first = min(rank * piece, length),
        size = min(piece, length - first), n = 0;
    size_t start = (size_t)(blockIdx.x / BLOCKS) * length + first;
    float at = -INFINITY, sum = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < size; i += THREADS) take(kept, n, sum, __ldcs(&in[start + i]));

    for (int k = 0;; k ^= 1) {
        float2 all = {0.0f, 0.0f}, mine = block_sum({sum, float(n)});
        if (threadIdx.x < BLOCKS) *cluster.map_shared_rank(&found[k][rank], threadIdx.x) = mine;
        cluster.sync(); // all threads have written, and have read what the next round overwrites
        for (int r = 0; r < BLOCKS; r++) all.x += found[k][r].x, all.y += found[k][r].y;
        float next = (all.x - 1.0f) / all.y;
        if (!(next > at)) break; // the same in all blocks, because all add the same numbers
        at = next;
        int before = n;
        n = 0, sum = 0.0f;
        for (int j = 0; j < before; j++) {
            float x = place(kept, j);
            if (x > at) take(kept, n, sum, x);
        }
    }
    if (rank == 0 && threadIdx.x == 0) out[blockIdx.x / BLOCKS] = at;
}

template <class V> void launch(float *out, const float *in, int rows, int length) {
    int piece = (length + BLOCKS - 1) / BLOCKS, bytes = (piece + THREADS - 1) / THREADS * THREADS * sizeof(V);
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
