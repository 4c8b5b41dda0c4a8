// The same, and each copy out is waited for.
// nvcc: -arch=sm_90
#include "../programs/check.h"

__device__ unsigned at(const void *s) { return (unsigned)__cvta_generic_to_shared(s); }
__device__ void load(void *to, const void *from, int bytes, void *barrier) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(barrier)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(barrier)) : "memory");
}
__device__ void wait(void *barrier, int parity) {
    asm volatile("{\n.reg .pred q;\nagain: mbarrier.try_wait.parity.shared.b64 q, [%0], %1;\n@!q bra again;\n}" ::"r"(at(barrier)), "r"(parity) : "memory");
}
__device__ void store(void *to, const void *from, int bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__global__ void move(int *p, const int *in) {
    __shared__ alignas(128) int s[32];
    __shared__ unsigned long long bar;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    for (int i = 0; i < 2; i++) {
        load(s, in + 32 * i, sizeof s, &bar);
        wait(&bar, i % 2);
        store(p + 32 * i, s, sizeof s);
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    move<<<1, 1>>>(p + 64, p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[255]);
    return 0;
}
