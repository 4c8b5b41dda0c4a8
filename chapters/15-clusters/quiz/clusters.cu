// clusters.cu — what the questions of chapter 15 are counted with.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

// Lane l reads word 8 l of another block's shared memory.
extern "C" __global__ void __cluster_dims__(2) every_eighth(int *out) {
    __shared__ int words[256];
    cg::cluster_group cluster = cg::this_cluster();
    for (int k = threadIdx.x; k < 256; k += 32) words[k] = k;
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[8 * threadIdx.x];
    cluster.sync();
}

// Each of eight blocks adds up what all of them have: one word each.
extern "C" __global__ void __cluster_dims__(8) total(int *out) {
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = blockIdx.x;
    cluster.sync();
    int sum = 0;
    for (int r = 0; r < 8; r++) sum += *cluster.map_shared_rank(&mine, r);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
    cluster.sync();
}

int main() {
    int *out;
    cudaMallocManaged(&out, 64 * sizeof *out);
    every_eighth<<<2, 32>>>(out);
    total<<<8, 32>>>(out);
    cudaDeviceSynchronize();
    printf("%d\n", out[0]);
    return 0;
}
