// st.async and red.async into the neighbour's shared memory; its mbarrier is, or is not, waited for.
// nvcc: -std=c++17 -arch=sm_90
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ unsigned map(unsigned at, unsigned rank) {
    unsigned to;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(at), "r"(rank));
    return to;
}

__global__ void __cluster_dims__(2) exchange(int *out) {
    __shared__ int stored[32], added[32];
    __shared__ __align__(8) unsigned long long bar;
    cg::cluster_group c = cg::this_cluster();
    int t = threadIdx.x;
    unsigned peer = c.block_rank() ^ 1, b = address(&bar);
    added[t] = 1;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    c.sync();
    if (t == 0)
        asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], 256; }" ::"r"(b) : "memory");
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     map(address(&stored[t]), peer)), "r"(t), "r"(map(b, peer)) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(
                     map(address(&added[t]), peer)), "r"(10 * t), "r"(map(b, peer)) : "memory");
#ifdef FIXED
    asm volatile("{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra WAIT; }" ::"r"(b)
                 : "memory");
#endif
    out[blockIdx.x * 32 + t] = stored[t] + added[t];
    c.sync();
}

int main() {
    int *out, host[64];
    CHECK(cudaMalloc(&out, sizeof host));
    exchange<<<2, 32>>>(out);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
#ifdef FIXED
    printf("%d %d\n", host[3], host[63]); // 34 342
#endif
    return 0;
}
