// Tensor maps that kernels change or make: each load gets the same bytes as with the host's map of the tensor.
// nvcc: -gencode arch=compute_90a,code=compute_90a -std=c++17
// On a GPU: nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 tensor_replace.cu -o t && ./t
#include "check.h"
#include "tensor_inputs.h"
#include <cstring>
#include <cuda.h>

enum { SPACE = 1 << 20, TILE = 48 * 1024 }; // bytes of the memory that all tensors lie in; of shared memory

struct tensor {
    const char *name;
    int type, rank; // CUtensorMapDataType
    cuuint64_t from, dim[5], stride[4];
    cuuint32_t box[5], step[5];
    int swizzle, fill, bytes; // bytes: that arrive
    int at[5];
};

__device__ unsigned place(const void *s) { return (unsigned)__cvta_generic_to_shared(s); }

// ---- fields: SPACE is global or shared::cta ----

#define REPLACE(SPACE, A) \
    template <int I> __device__ void dimension(A map, const tensor &t) { \
        asm volatile("tensormap.replace.tile.box_dim" SPACE ".b1024.b32 [%0], %1, %2;" ::"l"(map), "n"(I), "r"(t.box[I]) : "memory"); \
        asm volatile("tensormap.replace.tile.global_dim" SPACE ".b1024.b32 [%0], %1, %2;" ::"l"(map), "n"(I), "r"((int)t.dim[I]) : "memory"); \
        asm volatile("tensormap.replace.tile.element_stride" SPACE ".b1024.b32 [%0], %1, %2;" ::"l"(map), "n"(I), "r"(t.step[I]) : "memory"); \
        if constexpr (I < 4) \
            asm volatile("tensormap.replace.tile.global_stride" SPACE ".b1024.b64 [%0], %1, %2;" ::"l"(map), "n"(I), "l"(t.stride[I]) : "memory"); \
    } \
    template <int T> __device__ void element(A map, int type) { \
        if (type == T) asm volatile("tensormap.replace.tile.elemtype" SPACE ".b1024.b32 [%0], %1;" ::"l"(map), "n"(T) : "memory"); \
        if constexpr (T) element<T - 1>(map, type); \
    } \
    template <int V> __device__ void modes(A map, int swizzle, int fill) { \
        if (swizzle == V) asm volatile("tensormap.replace.tile.swizzle_mode" SPACE ".b1024.b32 [%0], %1;" ::"l"(map), "n"(V) : "memory"); \
        if constexpr (V < 2) \
            if (fill == V) asm volatile("tensormap.replace.tile.fill_mode" SPACE ".b1024.b32 [%0], %1;" ::"l"(map), "n"(V) : "memory"); \
        if constexpr (V) modes<V - 1>(map, swizzle, fill); \
    } \
    __device__ void replace(A map, const tensor &t, int type, const char *memory) { \
        asm volatile("tensormap.replace.tile.global_address" SPACE ".b1024.b64 [%0], %1;" ::"l"(map), "l"(memory + t.from) : "memory"); \
        asm volatile("tensormap.replace.tile.rank" SPACE ".b1024.b32 [%0], %1;" ::"l"(map), "r"(t.rank - 1) : "memory"); \
        asm volatile("tensormap.replace.tile.interleave_layout" SPACE ".b1024.b32 [%0], 0;" ::"l"(map) : "memory"); \
        dimension<0>(map, t), dimension<1>(map, t), dimension<2>(map, t), dimension<3>(map, t), dimension<4>(map, t); \
        element<12>(map, type), modes<3>(map, t.swizzle, t.fill); \
    }
namespace in_global {
REPLACE(".global", CUtensorMap *)
}
namespace in_shared {
REPLACE(".shared::cta", unsigned long long)
}

// ---- a tile ----

#define COORDINATES "r"(t.at[0]), "r"(t.at[1]), "r"(t.at[2]), "r"(t.at[3]), "r"(t.at[4])
#define LOAD(n, list) \
    if (t.rank == n) \
        asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" list "}], [%2];" \
                     ::"r"(place(to)), "l"(map), "r"(place(bar)), COORDINATES : "memory")
__device__ void load(void *to, const CUtensorMap *map, const tensor &t, uint64_t *bar) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(bar)), "r"(t.bytes) : "memory");
    LOAD(1, "%3");
    LOAD(2, "%3, %4");
    LOAD(3, "%3, %4, %5");
    LOAD(4, "%3, %4, %5, %6");
    LOAD(5, "%3, %4, %5, %6, %7");
}
__device__ void wait(uint64_t *bar, int parity) {
    for (int turn = 0, done = 0; turn < 1000000 && !done; turn++)
        asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(done) : "r"(place(bar)), "r"(parity) : "memory");
}
__device__ void begin(char *tile, uint64_t *bar) {
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) tile[i] = 0x55;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(bar)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}
__device__ void end(const char *tile, char *out) {
    __syncthreads();
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) out[i] = tile[i];
}

__global__ void by_host(const __grid_constant__ CUtensorMap map, const __grid_constant__ tensor t, char *out) {
    extern __shared__ __align__(1024) char tile[];
    __shared__ uint64_t bar;
    begin(tile, &bar);
    if (threadIdx.x == 0) load(tile, &map, t, &bar), wait(&bar, 0);
    end(tile, out);
}

// ---- maps by kernels ----

// A warp publishes the map in shared memory to the threads that copy by it.
__device__ void publish(CUtensorMap *to, const CUtensorMap *from) {
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(to), "r"(place(from)) : "memory");
}
__device__ void acquire(const CUtensorMap *map) { asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory"); }
__device__ void copy_map(CUtensorMap *to, const CUtensorMap &from, bool blank) {
    ((int *)to)[threadIdx.x] = blank ? 0 : ((const int *)&from)[threadIdx.x];
    __syncwarp();
}

enum way { FROM_ANOTHER, FROM_ZERO, IN_GLOBAL };
__global__ void by_device(const __grid_constant__ CUtensorMap other, const __grid_constant__ tensor t, int type, way w, const char *memory, CUtensorMap *map, char *out) {
    extern __shared__ __align__(1024) char tile[];
    __shared__ alignas(128) CUtensorMap copy;
    __shared__ uint64_t bar;
    begin(tile, &bar);
    if (threadIdx.x < 32) {
        if (w == IN_GLOBAL) {
            copy_map(map, other, false);
            if (threadIdx.x == 0) in_global::replace(map, t, type, memory);
            asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
            __syncwarp();
        } else {
            copy_map(&copy, other, w == FROM_ZERO);
            if (threadIdx.x == 0) in_shared::replace(place(&copy), t, type, memory);
            publish(map, &copy);
        }
        if (threadIdx.x == 0) acquire(map), load(tile, map, t, &bar), wait(&bar, 0);
    }
    end(tile, out);
}

// One map, which points to the next tensor after each load.
__global__ void one_by_one(const __grid_constant__ CUtensorMap first, const __grid_constant__ tensor t, const char *memory, CUtensorMap *map, char *out) {
    extern __shared__ __align__(1024) char tile[];
    __shared__ alignas(128) CUtensorMap copy;
    __shared__ uint64_t bar;
    begin(tile, &bar);
    if (threadIdx.x < 32) {
        copy_map(&copy, first, false);
        for (int i = 0; i < 4; i++) {
            if (threadIdx.x == 0)
                asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(place(&copy)), "l"(memory + i * 4096) : "memory");
            publish(map, &copy);
            if (threadIdx.x == 0) acquire(map), load(tile + i * t.bytes, map, t, &bar), wait(&bar, i & 1);
            __syncwarp();
        }
    }
    end(tile, out);
}

// ---- the host ----

static decltype(&cuTensorMapEncodeTiled) encode;
static CUtensorMap map_of(const tensor &t, char *memory) {
    CUtensorMap m;
    CUresult r = encode(&m, (CUtensorMapDataType)t.type, t.rank, memory + t.from, t.dim, t.stride, t.box, t.step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                        (CUtensorMapSwizzle)t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)t.fill);
    if (r) printf("%s: encode: %d\n", t.name, r);
    return m;
}
// Types as tensormap.replace numbers them.
static int type_of(int type) {
    static const int FIELD[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};
    return FIELD[type];
}
static uint64_t result(const char *out) {
    static uint32_t host[TILE / 4];
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, out, TILE, cudaMemcpyDeviceToHost));
    return digest(host, TILE / 4);
}

static const tensor TENSORS[] = {
    {"bytes, 1 dimension", 0, 1, 4096, {5000}, {}, {256}, {1, 1, 1, 1, 1}, 0, 0, 256, {64}},
    {"floats", 7, 2, 0, {64, 64}, {256}, {16, 8}, {1, 1, 1, 1, 1}, 0, 0, 512, {16, 8}},
    {"floats behind the border, NaN", 7, 2, 1024, {60, 50}, {512}, {32, 16}, {1, 1, 1, 1, 1}, 3, 1, 2048, {40, 40}},
    {"halves, swizzle 64", 6, 3, 64, {96, 20, 10}, {256, 8192}, {32, 8, 4}, {1, 1, 1, 1, 1}, 2, 0, 2048, {64, 16, 8}},
    {"halves, swizzle 32", 9, 2, 64, {96, 20}, {256}, {16, 8}, {1, 1, 1, 1, 1}, 1, 1, 256, {88, 16}},
    {"shorts, each second and third", 1, 3, 2048, {64, 30, 12}, {128, 4096}, {32, 16, 9}, {1, 2, 3, 1, 1}, 0, 0, 1536, {0, 3, 1}},
    {"doubles, 4 dimensions", 8, 4, 0, {8, 6, 5, 4}, {64, 512, 4096}, {4, 3, 2, 2}, {1, 1, 1, 1, 1}, 0, 0, 384, {4, 1, 4, 2}},
    {"words, 5 dimensions", 3, 5, 128, {16, 4, 4, 3, 3}, {64, 256, 1024, 4096}, {8, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, 0, 0, 512, {8, 2, 1, 2, 0}},
    {"tf32", 11, 2, 0, {64, 64}, {256}, {32, 8}, {1, 1, 1, 1, 1}, 3, 0, 1024, {32, 60}},
    {"floats, flushed", 10, 2, 0, {64, 64}, {256}, {32, 8}, {1, 1, 1, 1, 1}, 3, 1, 1024, {48, 60}},
    {"long words", 5, 2, 0, {30, 64}, {256}, {16, 8}, {1, 1, 1, 1, 1}, 3, 0, 1024, {16, -4}},
    {"words without sign", 2, 2, 0, {60, 64}, {256}, {16, 8}, {1, 1, 1, 1, 1}, 0, 0, 512, {-8, -4}},
    {"tf32, flushed", 12, 2, 0, {64, 64}, {256}, {32, 8}, {1, 1, 1, 1, 1}, 3, 1, 1024, {40, 60}},
    {"long words without sign", 4, 2, 0, {30, 64}, {256}, {16, 8}, {1, 1, 1, 1, 1}, 3, 0, 1024, {24, 62}},
};

int main() {
    static uint32_t host[SPACE / 4];
    random_words r = {7};
    char *memory, *out;
    CUtensorMap *map;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    for (auto &v : host) v = r.next() & 0x7f7f7f7f; // no NaN, whose bits may change
    CHECK(cudaMalloc(&memory, SPACE));
    CHECK(cudaMalloc(&map, sizeof *map));
    CHECK(cudaMalloc(&out, TILE));
    CHECK(cudaMemcpy(memory, host, SPACE, cudaMemcpyHostToDevice));
    CHECK(cudaFuncSetAttribute(by_host, cudaFuncAttributeMaxDynamicSharedMemorySize, TILE));
    CHECK(cudaFuncSetAttribute(by_device, cudaFuncAttributeMaxDynamicSharedMemorySize, TILE));
    CHECK(cudaFuncSetAttribute(one_by_one, cudaFuncAttributeMaxDynamicSharedMemorySize, TILE));
    CUtensorMap floats = map_of(TENSORS[1], memory);
    for (const tensor &t : TENSORS) {
        by_host<<<1, 64, TILE>>>(map_of(t, memory), t, out);
        uint64_t want = result(out);
        printf("%-32s %016llx", t.name, (unsigned long long)want);
        for (way w : {FROM_ANOTHER, FROM_ZERO, IN_GLOBAL}) {
            by_device<<<1, 64, TILE>>>(floats, t, type_of(t.type), w, memory, map, out);
            uint64_t got = result(out);
            if (got == want) printf(" same");
            else printf(" %016llx", (unsigned long long)got);
        }
        printf("\n");
    }
    one_by_one<<<1, 64, TILE>>>(floats, TENSORS[1], memory, map, out);
    printf("%-32s %016llx\n", "four addresses", (unsigned long long)result(out));
    return 0;
}
