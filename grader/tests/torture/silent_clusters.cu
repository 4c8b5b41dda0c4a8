// What clusters may do: nothing is reported.
// nvcc: -std=c++17
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// The right twin of cluster_race and cluster_may_exit: meet before changing, and before leaving.
__global__ void __cluster_dims__(2) exchange(int *out) {
    __shared__ int box[64];
    cg::cluster_group c = cg::this_cluster();
    box[threadIdx.x] = threadIdx.x;
    c.sync();
    int got = c.map_shared_rank(box, c.block_rank() ^ 1)[threadIdx.x];
    c.sync();
    box[threadIdx.x] = got + 1;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = box[63 - threadIdx.x];
}

// A histogram that lies in four blocks.
__global__ void __cluster_dims__(4) histogram(int *out) {
    __shared__ int bins[16];
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    c.sync();
    int bin = (blockIdx.x * blockDim.x + threadIdx.x) * 7 % 64;
    atomicAdd(c.map_shared_rank(&bins[bin % 16], bin / 16), 1);
    c.sync();
    if (threadIdx.x < 16) atomicAdd(&out[c.block_rank() * 16 + threadIdx.x], bins[threadIdx.x]);
}

// .relaxed after a fence.
__global__ void __cluster_dims__(2) fenced(int *out) {
    __shared__ int box[64];
    cg::cluster_group c = cg::this_cluster();
    c.sync();
    c.map_shared_rank(box, c.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x];
}

// Threads that have left are not waited for.
__global__ void __cluster_dims__(2) leavers(int *out) {
    __shared__ int box;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x >= 32 + 8 * blockIdx.x) return;
    if (threadIdx.x == 0) box = blockIdx.x;
    c.sync();
    int got = *c.map_shared_rank(&box, c.block_rank() ^ 1);
    c.sync();
    out[blockIdx.x * 64 + threadIdx.x] = got;
}

// Block 0 waits at an mbarrier of its own, at which block 1 arrives from outside after it wrote.
__global__ void __cluster_dims__(2) handed_over(int *out) {
    __shared__ int box[64];
    __shared__ unsigned long long bar;
    cg::cluster_group c = cg::this_cluster();
    unsigned here = (unsigned)__cvta_generic_to_shared(&bar), there;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(here) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    c.sync();
    if (c.block_rank() == 1) {
        c.map_shared_rank(box, 0)[threadIdx.x] = threadIdx.x * 3;
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(here));
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
    } else {
        unsigned done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
                         "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(here) : "memory");
        out[threadIdx.x] = box[threadIdx.x];
    }
    c.sync();
}

// What the blocks of a cluster leave for each other in global memory.
__global__ void __cluster_dims__(2) through_memory(int *out) {
    cg::cluster_group c = cg::this_cluster();
    out[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
    c.sync();
    int got = out[(blockIdx.x ^ 1) * 64 + threadIdx.x];
    c.sync();
    out[blockIdx.x * 64 + threadIdx.x] = got * 2;
}

static int *out, host[256];

static void show(const char *name, int from, int to) {
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    int sum = 0;
    for (int i = from; i < to; i++) sum += host[i];
    printf("%s: %d %d %d, sum %d\n", name, host[from], host[from + 1], host[to - 1], sum);
    CHECK(cudaMemset(out, 0, sizeof host));
}

int main() {
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemset(out, 0, sizeof host));
    exchange<<<4, 64>>>(out);
    show("exchange", 0, 256);
    histogram<<<8, 64>>>(out);
    show("histogram", 0, 64);
    fenced<<<2, 64>>>(out);
    show("fenced", 0, 128);
    leavers<<<2, 64>>>(out);
    show("leavers", 0, 40);
    handed_over<<<2, 64>>>(out);
    show("handed over", 0, 64);
    through_memory<<<4, 64>>>(out);
    show("through memory", 0, 256);
    return 0;
}
