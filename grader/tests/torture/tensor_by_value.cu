// A map that is a copy in the thread's own memory: the parameter is not __grid_constant__.
// nvcc: -arch=sm_90 -std=c++17
#include "../programs/check.h"
#include <cstdint>
#include <cstring>
#include <cuda.h>

enum { SIDE = 64, ROWS = 8, COLUMNS = 16, TILE = ROWS * COLUMNS * 4 };

__device__ unsigned at(const void *s) { return (unsigned)__cvta_generic_to_shared(s); }
__device__ void init(void *barrier, int n) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;\nfence.proxy.async.shared::cta;" ::"r"(at(barrier)), "r"(n) : "memory");
}
__device__ void expect(void *barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(barrier)), "r"(bytes) : "memory");
}
__device__ void load(void *to, const CUtensorMap *map, int x, int y, void *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(to)),
                 "l"(map), "r"(x), "r"(y), "r"(at(barrier))
                 : "memory");
}
__device__ void wait(void *barrier, int parity) {
    asm volatile("{\n.reg .pred q;\nagain: mbarrier.try_wait.parity.shared.b64 q, [%0], %1;\n@!q bra again;\n}" ::"r"(at(barrier)), "r"(parity)
                 : "memory");
}

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

__global__ void tile(CUtensorMap map, float *out) {
    __shared__ alignas(128) float s[ROWS * COLUMNS + 32];
    __shared__ long long barrier;
    int t = threadIdx.x;
    if (t == 0) init(&barrier, 1);
    __syncthreads();
    if (t == 0) {
        expect(&barrier, TILE);
        load(s, &map, 16, 8, &barrier);
    }
    wait(&barrier, 0);
    out[t] = s[t];
}

int main() {
    float *p = matrix_memory(), *out, host[ROWS * COLUMNS] = {0};
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemset(out, 0, sizeof host));
    tile<<<1, 128>>>(matrix(p), out);
    SHOW(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    printf("%g %g\n", host[0], host[127]);
    return 0;
}
