// tensor.cuh: what the programs with tensor maps have in common: a matrix of floats, a map of it, the instructions.
#pragma once
#include "../programs/check.h"
#include <cuda.h>

enum { SIDE = 64, ROWS = 8, COLUMNS = 16, TILE = ROWS * COLUMNS * 4 };

__device__ inline unsigned at(const void *s) { return (unsigned)__cvta_generic_to_shared(s); }
__device__ inline void init(void *barrier, int n) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;\nfence.proxy.async.shared::cta;" ::"r"(at(barrier)), "r"(n) : "memory");
}
__device__ inline void expect(void *barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(barrier)), "r"(bytes) : "memory");
}
__device__ inline void load(void *to, const CUtensorMap *map, int x, int y, void *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(to)),
                 "l"(map), "r"(x), "r"(y), "r"(at(barrier))
                 : "memory");
}
__device__ inline void wait(void *barrier, int parity) {
    asm volatile("{\n.reg .pred q;\nagain: mbarrier.try_wait.parity.shared.b64 q, [%0], %1;\n@!q bra again;\n}" ::"r"(at(barrier)), "r"(parity)
                 : "memory");
}
__device__ inline void store(const CUtensorMap *map, int x, int y, const void *from) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(at(from))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ inline void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// A map of the matrix, whose boxes have that many rows.
static CUtensorMap matrix(void *p, cuuint32_t rows = ROWS) {
    CUtensorMap m;
    cuuint64_t dim[] = {SIDE, SIDE}, stride[] = {SIDE * 4};
    cuuint32_t box[] = {COLUMNS, rows}, step[] = {1, 1};
    void *f;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
    CUresult r = ((decltype(&cuTensorMapEncodeTiled))f)(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, dim, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                                        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r) printf("encode: %d\n", r);
    return m;
}

static float *matrix_memory() {
    static float host[SIDE * SIDE];
    void *p;
    for (int i = 0; i < SIDE * SIDE; i++) host[i] = i;
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    return (float *)p;
}
