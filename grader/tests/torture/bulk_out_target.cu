// The target of a bulk store is written by its thread before the store was waited for.
// nvcc: -arch=sm_90
#include "../programs/check.h"

__device__ unsigned at(const void *s) { return (unsigned)__cvta_generic_to_shared(s); }
__device__ void store(void *to, const void *from, int bytes) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__global__ void bulk(int *p) {
    __shared__ alignas(128) int s[32];
    int t = threadIdx.x;
    s[t] = 100 + t;
    __syncwarp();
    if (t == 0) {
        store(p, s, sizeof s);
        p[3] = 7;
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    bulk<<<1, 32>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
