// warpgroup.cu: how long products of warpgroups take: docs/results/h100/warpgroup.tsv, which docs/time-model.md is held against.
// nvcc -gencode arch=compute_90a,code=sm_90a -o warpgroup grader/tests/timing/warpgroup.cu && ./warpgroup > docs/results/h100/warpgroup.tsv
// In the simulator, with ./warpgroup brief, which has fewer rounds and one block: the table's times come from its kernels' names.
#include "../programs/warpgroup.h"
#include <cstdint>
#include <cstdio>

// `chain` products that add to each other, then a wait; so often. Cycles of one, by the clock, are the difference of two lengths.
#define KERNEL(name, chain, count, what, names, inputs) \
    __global__ void name(long long *out, uint32_t *sink, int rounds) { \
        extern __shared__ __align__(1024) uint4 shared[]; \
        uint64_t at = (uint32_t)__cvta_generic_to_shared(shared) >> 4, da = 1ull << 62 | 64ull << 32 | 1 << 16 | at, db = da + 1024; \
        uint32_t a[4] = {0}, v[count] = {0}, sum = 0; \
        for (int i = threadIdx.x; i < 4096; i += blockDim.x) shared[i] = make_uint4(0, 0, 0, 0); \
        asm volatile("fence.proxy.async;" ::: "memory"); \
        __syncthreads(); \
        long long t = clock64(); \
        for (int r = 0; r < rounds; r++) { \
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); \
            _Pragma("unroll") for (int i = 0; i < chain; i++) \
                asm volatile("wgmma.mma_async" what " {" NAMES_##count "}, " names ";" : RESULTS_##count : inputs, "l"(db)); \
            asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory"); \
        } \
        t = clock64() - t; \
        if (threadIdx.x == 0) out[blockIdx.x] = t; \
        for (int i = 0; i < count; i++) sum += v[i]; \
        if (sum == 12345) *sink = sum + a[0] + (uint32_t)da; \
    }
#define IN_SHARED "l"(da)
#define IN_REGISTERS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define DENSE(n) ".sync.aligned.m64n" #n
#define SPARSE(n) ".sp.sync.aligned.m64n" #n
#define SS(n, chain, count, i, j) KERNEL(shared_n##n##_chain##chain, chain, count, DENSE(n) "k16.f32.f16.f16", "%" #i ", %" #j ", 1, 1, 1, 0, 0", IN_SHARED)
#define RS(n, chain, count, i, j, k, l, m) \
    KERNEL(registers_n##n##_chain##chain, chain, count, DENSE(n) "k16.f32.f16.f16", "{%" #i ", %" #j ", %" #k ", %" #l "}, %" #m ", 1, 1, 1, 0", IN_REGISTERS)
SS(8, 4, 4, 4, 5)
SS(16, 4, 8, 8, 9)
SS(32, 4, 16, 16, 17)
SS(64, 4, 32, 32, 33)
SS(128, 4, 64, 64, 65)
SS(256, 4, 128, 128, 129)
SS(8, 1, 4, 4, 5)
SS(64, 1, 32, 32, 33)
SS(128, 1, 64, 64, 65)
SS(256, 1, 128, 128, 129)
SS(64, 16, 32, 32, 33)
RS(8, 4, 4, 4, 5, 6, 7, 8)
RS(16, 4, 8, 8, 9, 10, 11, 12)
RS(32, 4, 16, 16, 17, 18, 19, 20)
RS(64, 4, 32, 32, 33, 34, 35, 36)
RS(256, 4, 128, 128, 129, 130, 131, 132)
KERNEL(tf32_n64_chain4, 4, 32, DENSE(64) "k8.f32.tf32.tf32", "%32, %33, 1, 1, 1", IN_SHARED)
KERNEL(e4m3_n256_chain4, 4, 128, DENSE(256) "k32.f32.e4m3.e4m3", "%128, %129, 1, 1, 1", IN_SHARED)
KERNEL(s8_n256_chain4, 4, 128, DENSE(256) "k32.s32.s8.s8", "%128, %129, 1", IN_SHARED)
// Sparse ones, of twice the elements in k; the metadata says that of each group the first are there.
#define SPARSE_SHARED "r"(0x44444444), "l"(da)
#define SPARSE_REGISTERS "r"(0x44444444), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define SP(n, chain, count, i, j, k) \
    KERNEL(sparse_n##n##_chain##chain, chain, count, SPARSE(n) "k32.f32.f16.f16", "%" #j ", %" #k ", %" #i ", 0, 1, 1, 1, 0, 0", SPARSE_SHARED)
#define SPR(n, chain, count, i, j, k, l, m, o) \
    KERNEL(sparse_registers_n##n##_chain##chain, chain, count, SPARSE(n) "k32.f32.f16.f16", \
           "{%" #j ", %" #k ", %" #l ", %" #m "}, %" #o ", %" #i ", 0, 1, 1, 1, 0", SPARSE_REGISTERS)
SP(8, 4, 4, 4, 5, 6)
SP(32, 4, 16, 16, 17, 18)
SP(64, 4, 32, 32, 33, 34)
SP(128, 4, 64, 64, 65, 66)
SP(256, 4, 128, 128, 129, 130)
SP(64, 1, 32, 32, 33, 34)
SP(256, 1, 128, 128, 129, 130)
SPR(8, 4, 4, 4, 5, 6, 7, 8, 9)
SPR(64, 4, 32, 32, 33, 34, 35, 36, 37)
SPR(256, 4, 128, 128, 129, 130, 131, 132, 133)
KERNEL(sparse_tf32_n64_chain4, 4, 32, SPARSE(64) "k16.f32.tf32.tf32", "%33, %34, %32, 0, 1, 1, 1", SPARSE_SHARED)
KERNEL(sparse_e4m3_n256_chain4, 4, 128, SPARSE(256) "k64.f32.e4m3.e4m3", "%129, %130, %128, 0, 1, 1, 1", SPARSE_SHARED)
KERNEL(sparse_s8_n256_chain4, 4, 128, SPARSE(256) "k64.s32.s8.s8", "%129, %130, %128, 0, 1", SPARSE_SHARED)

static bool brief;
static void timed(const char *name, void (*kernel)(long long *, uint32_t *, int), int chain, int most) {
    static long long *out, host;
    static uint32_t *sink;
    if (!out) cudaMalloc(&out, 132 * sizeof host), cudaMalloc(&sink, sizeof *sink);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    for (int groups = 1; groups <= most; groups *= 2) {
        double cycles[2];
        for (int i = 0; i < 2; i++) {
            int rounds = (brief ? 10 : 50) * (i ? 5 : 1);
            for (int warm = brief; warm < 2; warm++) kernel<<<brief ? 1 : 132, 128 * groups, 65536>>>(out, sink, rounds);
            cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
            cycles[i] = (double)host;
        }
        if (!brief) printf("%s\t%d\t%.1f\n", name, groups, (cycles[1] - cycles[0]) / 200 / chain / groups);
    }
}
#define TIMED(name, chain, most) timed(#name, name, chain, most)

int main(int argc, char **) {
    brief = argc > 1;
    if (!brief) printf("# cycles of a product, warpgroups on each SM of an H100\nproduct\twarpgroups\tcycles\n");
    TIMED(shared_n8_chain4, 4, 4), TIMED(shared_n16_chain4, 4, 4), TIMED(shared_n32_chain4, 4, 4), TIMED(shared_n64_chain4, 4, 4);
    TIMED(shared_n128_chain4, 4, 4), TIMED(shared_n256_chain4, 4, 2), TIMED(shared_n8_chain1, 1, 4), TIMED(shared_n64_chain1, 1, 4);
    TIMED(shared_n128_chain1, 1, 4), TIMED(shared_n256_chain1, 1, 2), TIMED(shared_n64_chain16, 16, 4);
    TIMED(registers_n8_chain4, 4, 4), TIMED(registers_n16_chain4, 4, 4), TIMED(registers_n32_chain4, 4, 4), TIMED(registers_n64_chain4, 4, 4);
    TIMED(registers_n256_chain4, 4, 2), TIMED(tf32_n64_chain4, 4, 4), TIMED(e4m3_n256_chain4, 4, 2), TIMED(s8_n256_chain4, 4, 2);
    TIMED(sparse_n8_chain4, 4, 4), TIMED(sparse_n32_chain4, 4, 4), TIMED(sparse_n64_chain4, 4, 4), TIMED(sparse_n128_chain4, 4, 4);
    TIMED(sparse_n256_chain4, 4, 2), TIMED(sparse_n64_chain1, 1, 4), TIMED(sparse_n256_chain1, 1, 2), TIMED(sparse_registers_n8_chain4, 4, 4);
    TIMED(sparse_registers_n64_chain4, 4, 4), TIMED(sparse_registers_n256_chain4, 4, 2), TIMED(sparse_tf32_n64_chain4, 4, 4);
    TIMED(sparse_e4m3_n256_chain4, 4, 2), TIMED(sparse_s8_n256_chain4, 4, 2);
    return cudaDeviceSynchronize();
}
