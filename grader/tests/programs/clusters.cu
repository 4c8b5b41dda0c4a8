// Clusters: ranks of blocks, distributed shared memory, and the sizes that a launch may request. The errors are those
// that an H100 gives.
// nvcc: -std=c++17
// stderr: clusters of (4,1,1) blocks; the kernel was compiled for (2,1,1)
// stderr: a grid of (3,1,1) blocks cannot be divided into clusters of (2,1,1)
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 2, 1) where(unsigned *out) {
    cg::cluster_group c = cg::this_cluster();
    dim3 at = c.block_index(), of = c.dim_blocks();
    unsigned id, n;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(n));
    unsigned *o = out + (blockIdx.y * gridDim.x + blockIdx.x) * 7;
    if (threadIdx.x) return;
    o[0] = c.block_rank();
    o[1] = c.num_blocks();
    o[2] = at.x * 10 + at.y;
    o[3] = of.x * 10 + of.y;
    o[4] = id;
    o[5] = n;
    o[6] = c.num_threads();
}

// Each block adds up what all blocks of its cluster hold.
__global__ void __cluster_dims__(4, 1, 1) sums(int *out) {
    __shared__ int mine, total;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) mine = blockIdx.x + 1, total = 0;
    c.sync();
    if (threadIdx.x < c.num_blocks()) atomicAdd(&total, *c.map_shared_rank(&mine, threadIdx.x));
    c.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = total;
}

// Writes this block's rank to the next block.
__global__ void ring(int *out) {
    __shared__ int box[32];
    cg::cluster_group c = cg::this_cluster();
    c.sync();
    int *there = c.map_shared_rank(box, (c.block_rank() + 1) % c.num_blocks());
    there[threadIdx.x] = blockIdx.x * 100 + threadIdx.x + 1000 * c.query_shared_rank(there);
    cg::cluster_group::arrival_token token = c.barrier_arrive();
    c.barrier_wait(std::move(token));
    out[blockIdx.x * 32 + threadIdx.x] = box[threadIdx.x];
}

// All blocks of a cluster count in the memory of the first; shared::cluster addresses of 32 bits.
__global__ void __cluster_dims__(8, 1, 1) count(unsigned *out) {
    __shared__ unsigned counts[4];
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x < 4) counts[threadIdx.x] = 0;
    c.sync();
    unsigned own = (unsigned)__cvta_generic_to_shared(&counts[threadIdx.x % 4]), first, rank;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(first) : "r"(own));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(first));
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(first), "r"(rank + 1) : "memory");
    c.sync();
    if (blockIdx.x % 8 == 0 && threadIdx.x < 4) out[threadIdx.x] = counts[threadIdx.x];
}

__global__ void none() {}
__global__ void __cluster_dims__(2) pairs() {}

static const char *ask(void (*kernel)(), int grid, int cluster) {
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[1];
    c.gridDim = grid;
    c.blockDim = 32;
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = cluster;
    a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
    c.attrs = a;
    c.numAttrs = 1;
    cudaError_t e = cudaLaunchKernelEx(&c, kernel);
    cudaGetLastError();
    return cudaGetErrorName(e);
}

int main() {
    unsigned *w;
    int *o, i, k;
    CHECK(cudaMallocManaged(&w, 8 * 7 * sizeof *w));
    CHECK(cudaMallocManaged(&o, 96 * sizeof *o));
    where<<<dim3(4, 2), 32>>>(w);
    CHECK(cudaDeviceSynchronize());
    for (i = 0; i < 8; i++) {
        for (k = 0; k < 7; k++) printf("%u ", w[i * 7 + k]);
        printf("\n");
    }
    sums<<<8, 64>>>(o);
    CHECK(cudaDeviceSynchronize());
    for (i = 0; i < 8; i++) printf("%d ", o[i]);
    printf("\n");
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[1];
    c.gridDim = 3;
    c.blockDim = 32;
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = 3;
    a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
    c.attrs = a;
    c.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&c, ring, o));
    CHECK(cudaDeviceSynchronize());
    for (i = 0; i < 3; i++) printf("%d %d\n", o[i * 32], o[i * 32 + 31]);
    count<<<8, 32>>>(w);
    CHECK(cudaDeviceSynchronize());
    printf("%u %u %u %u\n", w[0], w[1], w[2], w[3]);

    printf("pairs in a grid of 4: %s\n", ask(pairs, 4, 2));
    printf("pairs asked for fours: %s\n", ask(pairs, 4, 4));
    pairs<<<3, 32>>>();
    printf("pairs in a grid of 3: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("2 in a grid of 3: %s\n", ask(none, 3, 2));
    printf("5 in a grid of 5: %s\n", ask(none, 5, 5));
    printf("0: %s\n", ask(none, 4, 0));
    printf("9: %s\n", ask(none, 18, 9));
    printf("16: %s\n", ask(none, 16, 16));
    CHECK(cudaFuncSetAttribute(none, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    printf("16, allowed: %s\n", ask(none, 16, 16));
    printf("32, allowed: %s\n", ask(none, 32, 32));
    cudaFuncAttributes f;
    CHECK(cudaFuncGetAttributes(&f, pairs));
    printf("%d %d %d %d %d\n", f.clusterDimMustBeSet, f.requiredClusterWidth, f.requiredClusterHeight,
           f.requiredClusterDepth, f.nonPortableClusterSizeAllowed);
    return 0;
}
