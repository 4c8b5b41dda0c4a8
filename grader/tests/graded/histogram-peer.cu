// Atomics in the shared memory of the cluster's other block.
// at first: 92 points: they were not counted
// expect: PART 60 90
// says: few serialized shared atomics
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
constexpr int BINS = 256, THREADS = 256, MOST_BLOCKS = 264;
__global__ void clear(int *bins) { bins[threadIdx.x] = 0; }
__global__ void __cluster_dims__(2,1,1) count(int *__restrict__ bins, const unsigned char *__restrict__ data, int n) {
    __shared__ int mine[BINS];
    cg::cluster_group cl = cg::this_cluster();
    int *part = cl.map_shared_rank(&mine[0], cl.block_rank() ^ 1);
    int t = threadIdx.x;
    mine[t] = 0;
    cl.sync();
    int first = blockIdx.x * THREADS + t, step = gridDim.x * THREADS;
    const uchar4 *words = reinterpret_cast<const uchar4 *>(data);
    for (int i = first; i < n / 4; i += step) {
        uchar4 v = words[i];
        atomicAdd(&part[v.x], 1); atomicAdd(&part[v.y], 1); atomicAdd(&part[v.z], 1); atomicAdd(&part[v.w], 1);
    }
    if (first < n % 4) atomicAdd(&part[data[n / 4 * 4 + first]], 1);
    cl.sync();
    if (mine[t] > 0) atomicAdd(&bins[t], mine[t]);
}
extern "C" void histogram(int *bins, const unsigned char *data, int n) {
    clear<<<1, BINS>>>(bins);
    if (n == 0) return;
    int blocks = (n / 4 + THREADS - 1) / THREADS;
    blocks = max(2, min(blocks, MOST_BLOCKS)); blocks += blocks & 1;
    count<<<blocks, THREADS>>>(bins, data, n);
}
