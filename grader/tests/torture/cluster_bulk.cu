// Bulk copies into the other block of a cluster: one block waits at its mbarrier before it reads, the other does not.
// nvcc: -std=c++17
#include "../programs/check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned offset_of(void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void __cluster_dims__(2) start(int *out) {
    __shared__ alignas(16) int from[64], box[64];
    __shared__ unsigned long long bar;
    cg::cluster_group c = cg::this_cluster();
    unsigned other = c.block_rank() ^ 1, b = offset_of(&bar), to, its;
    from[threadIdx.x] = blockIdx.x * 64 + threadIdx.x;
    if (!threadIdx.x) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
        asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], 256; }" ::"r"(b) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // copies see what was stored
    c.sync();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(offset_of(box)), "r"(other));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(its) : "r"(b), "r"(other));
    if (!threadIdx.x)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(to),
                     "r"(offset_of(from)), "r"(its)
                     : "memory");
    c.sync(); // orders no copy
    for (unsigned done = blockIdx.x; !done;)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(b)
                     : "memory");
    out[(blockIdx.x ^ 1) * 64 + threadIdx.x] = box[threadIdx.x]; // reported of block 1
    c.sync();
}

int main() {
    int *out, got[128], sum = 0;
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMemset(out, 0, sizeof got));
    start<<<2, 64>>>(out);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 64; i < 128; i++) sum += got[i]; // 64 to 127: 6112
    printf("waited for: %d\n", sum);
    return 0;
}
