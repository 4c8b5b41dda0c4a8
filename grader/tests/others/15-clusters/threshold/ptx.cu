// PTX in place of Cooperative Groups, and a cluster whose size the launch says.

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

__device__ void tell(float2 *place, unsigned rank, float2 v) {
    unsigned here = __cvta_generic_to_shared(place), there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(there), "f"(v.x), "f"(v.y) : "memory");
}
__device__ void arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ void wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The launch says how many blocks a cluster has.
template <class V>
__global__ void find(float *__restrict__ out, const V *__restrict__ in, int length) {
    extern __shared__ float kept[];
    __shared__ float2 found[2][BLOCKS];      // by block of the cluster: its result in this round and the previous one
    arrive(); // no block may write to one that has not started
    int rank = blockIdx.x % BLOCKS, piece = (length + BLOCKS - 1) / BLOCKS, first = min(rank * piece, length),
        size = min(piece, length - first), n = 0;
    size_t start = (size_t)(blockIdx.x / BLOCKS) * length + first;
    float at = -INFINITY, sum = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < size; i += THREADS) take(kept, n, sum, __ldcs(&in[start + i]));
    wait();

    for (int k = 0;; k ^= 1) {
        float2 all = {0.0f, 0.0f}, mine = block_sum({sum, float(n)});
        if (threadIdx.x < BLOCKS) tell(&found[k][rank], threadIdx.x, mine);
        __syncwarp(); // the barrier is for whole warps
        arrive();
        wait(); // all threads have written, and have read what the next round overwrites
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
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = BLOCKS, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = rows * BLOCKS, config.blockDim = THREADS, config.dynamicSmemBytes = bytes;
    config.attrs = &cluster, config.numAttrs = 1;
    cudaLaunchKernelEx(&config, find<V>, out, reinterpret_cast<const V *>(in), length);
}

extern "C" void threshold(float *out, const float *in, int rows, int cols) {
    if (rows == 0) return;
    if (cols % 4 == 0)
        launch<float4>(out, in, rows, cols / 4);
    else
        launch<float>(out, in, rows, cols);
}
