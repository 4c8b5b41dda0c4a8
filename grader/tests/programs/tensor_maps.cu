// Bulk copies by tensor maps: 1 to 5 dimensions, borders, fills, steps, swizzles, stores, reductions, multicast, refused maps.
// nvcc: -arch=sm_90 -std=c++17
// Compares each case with a host reference, element by element, and prints a digest of all bytes, so that the
// same file also tests a GPU: nvcc -arch=sm_90 -std=c++17 tensor_maps.cu -o t && ./t
// GPUs accept all coordinates here (docs/simgpu.md). Others end a program: torture/tensor_unaligned.cu and others test them.
// With an argument (./t doubts), it also tries cases in which the simulated GPU's behaviour is an assumption. With a
// number after it, only that load, store or reduction, because a refused one ends the process
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <string>
#include <vector>

typedef std::vector<uint8_t> bytes;
static decltype(&cuTensorMapEncodeTiled) encode;
static int failures, cases, only = -1;
// Returns true if the current case is to be run: one that a GPU refuses ends the process.
static bool skipped() { return cases++ != only && only >= 0; }

// ---- the device ----

struct place {
    int rank, c[5];
};

__device__ unsigned at(const void *s) { return (unsigned)__cvta_generic_to_shared(s); }

#define COORDINATES "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "r"(p.c[4])
#define LOAD(n, list)                                                                                                              \
    if (p.rank == n)                                                                                                               \
        asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" list "}], [%2];" \
                     ::"r"(at(to)), "l"(map), "r"(at(bar)), COORDINATES : "memory");
#define STORE(n, list)                                                                                                             \
    if (p.rank == n)                                                                                                               \
        asm volatile("cp.async.bulk.tensor." #n "d.global.shared::cta.tile.bulk_group [%1, {" list "}], [%0];"                     \
                     ::"r"(at(from)), "l"(&map), "r"(0), COORDINATES : "memory");
#define REDUCE(number, name)                                                                                                       \
    if (op == number)                                                                                                              \
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." name ".tile.bulk_group [%1, {%3, %4}], [%0];"            \
                     ::"r"(at(from)), "l"(&map), "r"(0), COORDINATES : "memory");

__device__ void load(void *to, const CUtensorMap *map, place p, uint64_t *bar) {
    LOAD(1, "%3") LOAD(2, "%3, %4") LOAD(3, "%3, %4, %5") LOAD(4, "%3, %4, %5, %6") LOAD(5, "%3, %4, %5, %6, %7")
}
__device__ void init(uint64_t *bar, int tile) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(tile) : "memory");
}
// Waits with a limit, because the expected bytes may never arrive.
__device__ void wait(uint64_t *bar) {
    for (int turn = 0, done = 0; turn < 1000000 && !done; turn++)
        asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], 0;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(done) : "r"(at(bar)) : "memory");
}

// Loads a tile of `tile` bytes, and prints `shown` bytes of shared memory from its start.
__global__ void load_tile(const __grid_constant__ CUtensorMap map, place p, int tile, int offset, int shown, uint8_t *out) {
    extern __shared__ __align__(1024) uint8_t shared[];
    __shared__ uint64_t bar;
    for (int i = threadIdx.x; i < offset + shown; i += blockDim.x) shared[i] = 0xee;
    __syncthreads();
    if (threadIdx.x == 0) {
        init(&bar, tile);
        load(shared + offset, &map, p, &bar);
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
        if (p.rank == 2)
            asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(p.c[0]), "r"(p.c[1]) : "memory");
        wait(&bar);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < shown; i += blockDim.x) out[i] = shared[offset + i];
}

// op: -1 a store, else a reduction.
__global__ void store_tile(const __grid_constant__ CUtensorMap map, place p, int op, int tile, const uint8_t *in) {
    extern __shared__ __align__(1024) uint8_t from[];
    for (int i = threadIdx.x; i < tile; i += blockDim.x) from[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    if (op < 0) {
        STORE(1, "%3") STORE(2, "%3, %4") STORE(3, "%3, %4, %5") STORE(4, "%3, %4, %5, %6") STORE(5, "%3, %4, %5, %6, %7")
    }
    REDUCE(0, "add") REDUCE(1, "min") REDUCE(2, "max") REDUCE(3, "and") REDUCE(4, "or") REDUCE(5, "xor") REDUCE(6, "inc") REDUCE(7, "dec")
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void __cluster_dims__(4) multicast(const __grid_constant__ CUtensorMap map, int x, int y, unsigned short ranks, int tile, uint8_t *out) {
    extern __shared__ __align__(1024) uint8_t to[];
    __shared__ uint64_t bar;
    bool mine = ranks >> (blockIdx.x % 4) & 1;
    for (int i = threadIdx.x; i < tile; i += blockDim.x) to[i] = 0xee;
    __syncthreads();
    if (threadIdx.x == 0) init(&bar, tile);
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0 && blockIdx.x % 4 == 1)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                     ::"r"(at(to)), "l"(&map), "r"(x), "r"(y), "r"(at(&bar)), "h"(ranks) : "memory");
    if (mine && threadIdx.x == 0) wait(&bar);
    __syncthreads();
    for (int i = threadIdx.x; i < tile; i += blockDim.x) out[blockIdx.x * tile + i] = to[i];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// ---- a tensor, and the reference for a tile, element by element ----

struct tensor {
    CUtensorMapDataType type;
    int element, rank;
    uint64_t dim[5], stride[4]; // elements; bytes
    uint32_t box[5], step[5];
    CUtensorMapSwizzle swizzle;
    bool nan;
};

static uint64_t size_of(const tensor &t) { return t.rank > 1 ? t.dim[t.rank - 1] * t.stride[t.rank - 2] : t.dim[0] * t.element; }
static int count(const tensor &t, int i) { return i < t.rank ? ((int)t.box[i] + (i ? (int)t.step[i] : 1) - 1) / (i ? (int)t.step[i] : 1) : 1; }
static int tile_bytes(const tensor &t) {
    int n = t.element;
    for (int i = 0; i < 5; i++) n *= count(t, i);
    return n;
}
static CUresult make(CUtensorMap *m, const tensor &t, void *p) {
    return encode(m, t.type, t.rank, p, t.dim, t.stride, t.box, t.step, CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                  t.nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
// Returns the swizzled position of byte `b` of a tile: rows of 128 bytes permute their chunks of 16.
static int shuffled(const tensor &t, int b) {
    int line = b / 128, chunk = b / 16 % 8;
    int by = t.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ? line % 8 : t.swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? line % 4 : t.swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? line % 2 : 0;
    return line * 128 + (chunk ^ by) * 16 + b % 16;
}
// Calls f(byte in shared memory, byte in global memory or -1) for each element. Stores write rows in chunks of 16 bytes.
template <class F> static void each(const tensor &t, place p, int offset, F f, int chunk = 1) {
    int n[5], i[5], linear = 0;
    for (int k = 0; k < 5; k++) n[k] = count(t, k);
    for (i[4] = 0; i[4] < n[4]; i[4]++)
        for (i[3] = 0; i[3] < n[3]; i[3]++)
            for (i[2] = 0; i[2] < n[2]; i[2]++)
                for (i[1] = 0; i[1] < n[1]; i[1]++)
                    for (i[0] = 0; i[0] < n[0]; i[0]++, linear++) {
                        int64_t g = 0;
                        for (int k = 0; k < t.rank && g >= 0; k++) {
                            int64_t c = p.c[k] + (int64_t)i[k] * (k ? t.step[k] : 1);
                            int64_t most = k || chunk < t.element ? (int64_t)t.dim[k] : ((int64_t)t.dim[0] * t.element + chunk - 1) / chunk * chunk / t.element;
                            g = c < 0 || c >= most ? -1 : g + c * (int64_t)(k ? t.stride[k - 1] : t.element);
                        }
                        f(shuffled(t, offset + linear * t.element) - offset, g);
                    }
}

static bytes random_bytes(size_t n, uint32_t seed) {
    bytes b(n);
    for (auto &v : b) v = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    return b;
}
static uint64_t digest(const bytes &b) {
    uint64_t h = 1469598103934665603ull;
    for (uint8_t v : b) h = (h ^ v) * 1099511628211ull;
    return h;
}
static void check(const char *what, cudaError_t e) {
    if (e == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorName(e));
    exit(1);
}
static void tell(const std::string &name, const bytes &got, const bytes &want) {
    size_t wrong = 0, first = 0;
    for (size_t i = got.size(); i-- > 0;)
        if (got[i] != want[i]) wrong++, first = i;
    printf("%-44s %016llx", name.c_str(), (unsigned long long)digest(got));
    if (wrong) printf("  %zu bytes differ, the first is %zu: %02x, not %02x", wrong, first, got[first], want[first]), failures++;
    printf("\n");
}
static void *to_device(const bytes &b) {
    void *p;
    check("cudaMalloc", cudaMalloc(&p, b.size()));
    check("cudaMemcpy", cudaMemcpy(p, b.data(), b.size(), cudaMemcpyHostToDevice));
    return p;
}
static bytes to_host(const void *p, size_t n) {
    bytes b(n);
    check("kernel", cudaDeviceSynchronize());
    check("cudaMemcpy", cudaMemcpy(b.data(), p, n, cudaMemcpyDeviceToHost));
    return b;
}

static bytes loaded(const tensor &t, place p, int offset, const bytes &in, int shown) {
    CUtensorMap m;
    CUresult r = make(&m, t, nullptr);
    void *d = to_device(in), *out;
    if (!r) r = make(&m, t, d);
    if (r) {
        printf("encode: %d\n", r);
        return bytes(shown, 0);
    }
    check("cudaMalloc", cudaMalloc(&out, shown));
    check("attribute", cudaFuncSetAttribute(load_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
    load_tile<<<1, 64, offset + shown>>>(m, p, tile_bytes(t), offset, shown, (uint8_t *)out);
    bytes got = to_host(out, shown);
    cudaFree(d), cudaFree(out);
    return got;
}
static void test_load(const std::string &name, const tensor &t, place p, int offset = 0) {
    if (skipped()) return;
    bytes in = random_bytes(size_of(t), 1), want((tile_bytes(t) + 127) / 128 * 128, 0xee);
    each(t, p, offset, [&](int s, int64_t g) {
        for (int b = 0; b < t.element; b++)
            want[s + b] = g >= 0 ? in[g + b] : t.nan ? (b % 2 ? 0x7f : 0xf7) : 0;
    });
    tell(name, loaded(t, p, offset, in, (int)want.size()), want);
}
static void test_store(const std::string &name, const tensor &t, place p) {
    if (skipped()) return;
    bytes in = random_bytes((tile_bytes(t) + 127) / 128 * 128, 2), before = random_bytes(size_of(t), 3), want = before;
    each(t, p, 0, [&](int s, int64_t g) {
        if (g >= 0) memcpy(&want[g], &in[s], t.element);
    }, 16);
    CUtensorMap m;
    void *d = to_device(before), *from = to_device(in);
    check("encode", make(&m, t, d) ? cudaErrorInvalidValue : cudaSuccess);
    store_tile<<<1, 64, in.size()>>>(m, p, -1, (int)in.size(), (const uint8_t *)from);
    tell(name, to_host(d, before.size()), want);
    cudaFree(d), cudaFree(from);
}

// ---- reductions ----

template <class T> static T reduced(int op, T a, T b) {
    switch (op) {
    case 1: return b < a ? b : a;
    case 2: return a < b ? b : a;
    case 3: return (T)((uint64_t)a & (uint64_t)b);
    case 4: return (T)((uint64_t)a | (uint64_t)b);
    case 5: return (T)((uint64_t)a ^ (uint64_t)b);
    case 6: return a >= b ? 0 : a + 1;
    case 7: return a == 0 || a > b ? b : a - 1;
    }
    return (T)((uint64_t)a + (uint64_t)b);
}
template <class T> static T reduced_float(int op, T a, T b) { return op == 1 ? (b < a ? b : a) : op == 2 ? (a < b ? b : a) : a + b; }
static const char *const ops[] = {"add", "min", "max", "and", "or", "xor", "inc", "dec"};

template <class T, class F> static void test_reduce(const char *type, CUtensorMapDataType id, int op, F value, T (*f)(int, T, T)) {
    if (skipped()) return;
    tensor t = {id, sizeof(T), 2, {24, 10}, {24 * sizeof(T) + (sizeof(T) == 2 ? 0 : 16)}, {16, 4}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_NONE, false};
    place p = {2, {16, 7}};
    bytes in(tile_bytes(t)), before(size_of(t)), want;
    for (size_t i = 0; i < in.size() / sizeof(T); i++) ((T *)in.data())[i] = value(i);
    for (size_t i = 0; i < before.size() / sizeof(T); i++) ((T *)before.data())[i] = value(i * 7 + 3);
    want = before;
    each(t, p, 0, [&](int s, int64_t g) {
        T a, b;
        if (g < 0) return;
        memcpy(&a, &want[g], sizeof a), memcpy(&b, &in[s], sizeof b);
        a = f(op, a, b);
        memcpy(&want[g], &a, sizeof a);
    });
    CUtensorMap m;
    void *d = to_device(before), *from = to_device(in);
    check("encode", make(&m, t, d) ? cudaErrorInvalidValue : cudaSuccess);
    store_tile<<<1, 64, in.size()>>>(m, p, op, (int)in.size(), (const uint8_t *)from);
    tell(std::string("reduce ") + type + " " + ops[op], to_host(d, before.size()), want);
    cudaFree(d), cudaFree(from);
}
static __half half_op(int op, __half a, __half b) { return __float2half(reduced_float(op, __half2float(a), __half2float(b))); }
static __nv_bfloat16 bfloat_op(int op, __nv_bfloat16 a, __nv_bfloat16 b) { return __float2bfloat16(reduced_float(op, __bfloat162float(a), __bfloat162float(b))); }

static void reductions() {
    auto number = [](size_t i) { return (uint64_t)(i * 0x9e3779b97f4a7c15ull); };
    auto small = [](size_t i) { return (float)((int)(i * 37 % 101) - 50) / 8; };
    for (int op = 0; op < 8; op++) test_reduce<uint32_t>("u32", CU_TENSOR_MAP_DATA_TYPE_UINT32, op, [&](size_t i) { return (uint32_t)(number(i) >> 32); }, reduced<uint32_t>);
    for (int op = 0; op < 6; op++) test_reduce<int32_t>("s32", CU_TENSOR_MAP_DATA_TYPE_INT32, op, [&](size_t i) { return (int32_t)(number(i) >> 32); }, reduced<int32_t>);
    for (int op = 0; op < 6; op++) test_reduce<uint64_t>("u64", CU_TENSOR_MAP_DATA_TYPE_UINT64, op, number, reduced<uint64_t>);
    for (int op = 1; op < 3; op++) test_reduce<int64_t>("s64", CU_TENSOR_MAP_DATA_TYPE_INT64, op, [&](size_t i) { return (int64_t)number(i); }, reduced<int64_t>);
    for (int op = 0; op < 3; op++) test_reduce<__half>("f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, op, [&](size_t i) { return __float2half(small(i)); }, half_op);
    for (int op = 0; op < 3; op++) test_reduce<__nv_bfloat16>("bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, op, [&](size_t i) { return __float2bfloat16(small(i)); }, bfloat_op);
    test_reduce<float>("f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 0, small, reduced_float<float>);
    test_reduce<double>("f64", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 0, small, reduced_float<double>);
}

// ---- the cases ----

static const auto NONE = CU_TENSOR_MAP_SWIZZLE_NONE, S32 = CU_TENSOR_MAP_SWIZZLE_32B, S64 = CU_TENSOR_MAP_SWIZZLE_64B, S128 = CU_TENSOR_MAP_SWIZZLE_128B;
static const auto F32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, F16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
static const tensor line = {F32, 4, 1, {100}, {}, {32}, {1}, NONE, false}, matrix = {F32, 4, 2, {37, 19}, {160}, {16, 8}, {1, 1}, NONE, false};
static const tensor cube = {F16, 2, 3, {20, 7, 5}, {48, 400}, {8, 3, 4}, {1, 1, 1}, NONE, false};
static const tensor four = {CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 4, {40, 5, 4, 3}, {48, 256, 1040}, {16, 2, 3, 2}, {1, 1, 1, 1}, NONE, false};
static const tensor five = {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, 5, {6, 4, 3, 3, 2}, {64, 256, 784, 2400}, {4, 3, 2, 2, 2}, {1, 1, 1, 1, 1}, NONE, false};

static void loads() {
    test_load("1 dimension", line, {1, {4}});
    test_load("1 dimension, past the end", line, {1, {92}});
    test_load("1 dimension, before the start", line, {1, {-8}});
    test_load("1 dimension, all outside", line, {1, {100}});
    test_load("2 dimensions", matrix, {2, {4, 3}});
    test_load("2 dimensions, odd row", matrix, {2, {8, 1}});
    test_load("2 dimensions, upper left corner", matrix, {2, {-4, -2}});
    test_load("2 dimensions, lower right corner", matrix, {2, {28, 15}});
    test_load("2 dimensions, far outside", matrix, {2, {2000000000, -2000000000}});
    test_load("2 dimensions, at byte 128", matrix, {2, {4, 3}}, 128);
    test_load("3 dimensions", cube, {3, {8, 2, 1}});
    test_load("3 dimensions, border", cube, {3, {16, -1, 3}});
    test_load("4 dimensions", four, {4, {16, 1, 1, 0}});
    test_load("4 dimensions, border", four, {4, {32, 4, -1, 2}});
    test_load("5 dimensions", five, {5, {2, 0, 1, 1, 0}});
    test_load("5 dimensions, border", five, {5, {4, -1, 2, -1, 1}});
    tensor t = matrix;
    t.nan = true;
    test_load("NaN, f32", t, {2, {28, 15}});
    t = cube, t.nan = true;
    test_load("NaN, f16", t, {3, {16, -1, 3}});
    t.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    test_load("NaN, bf16", t, {3, {16, -1, 3}});
    t = five, t.nan = true;
    test_load("NaN, f64", t, {5, {4, -1, 2, -1, 1}});
    t = matrix, t.step[1] = 3;
    test_load("every third row", t, {2, {4, 1}});
    test_load("every third row, from outside", t, {2, {4, -2}});
    t = cube, t.step[2] = 2, t.step[1] = 2;
    test_load("every second of two dimensions", t, {3, {8, 1, 0}});
}

static void swizzles() {
    const struct { const char *name; CUtensorMapSwizzle s; uint32_t row; } kinds[] = {{"none", NONE, 64}, {"32", S32, 16}, {"64", S64, 32}, {"128", S128, 64}};
    for (auto &k : kinds) {
        tensor t = {F16, 2, 2, {200, 60}, {400}, {k.row, 24}, {1, 1}, k.s, false};
        test_load(std::string("swizzle ") + k.name, t, {2, {8, 5}});
        test_load(std::string("swizzle ") + k.name + ", border", t, {2, {192, 50}});
        test_load(std::string("swizzle ") + k.name + ", at byte 256", t, {2, {8, 5}}, 256);
        test_store(std::string("store, swizzle ") + k.name, t, {2, {192, 50}});
    }
    tensor t = {CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 3, {200, 9, 4}, {208, 2000}, {128, 5, 3}, {1, 1, 1}, S128, false};
    test_load("swizzle 128 of bytes, 3 dimensions", t, {3, {80, 3, 2}});
}

static void stores() {
    test_store("store, 1 dimension", line, {1, {92}});
    test_store("store, 2 dimensions", matrix, {2, {4, 3}});
    test_store("store, corner", matrix, {2, {28, 15}});
    test_store("store, 3 dimensions", cube, {3, {16, 5, 3}});
    test_store("store, 4 dimensions", four, {4, {32, 4, 2, 2}});
    test_store("store, 5 dimensions", five, {5, {4, 2, 2, 2, 1}});
    tensor t = matrix;
    t.step[1] = 3;
    test_store("store, every third row", t, {2, {4, 1}});
}

static void multicasts() {
    for (unsigned short ranks : {0xf, 0x5, 0x2}) {
        tensor t = matrix;
        int tile = tile_bytes(t);
        bytes in = random_bytes(size_of(t), 1), want(8 * tile, 0xee);
        each(t, {2, {28, 3}}, 0, [&](int s, int64_t g) {
            for (int b = 0; b < 8; b++)
                for (int k = 0; k < 4; k++)
                    if (ranks >> b % 4 & 1) want[b * tile + s + k] = g >= 0 ? in[g + k] : 0;
        });
        CUtensorMap m;
        void *d = to_device(in), *out;
        check("cudaMalloc", cudaMalloc(&out, 8 * tile));
        check("encode", make(&m, t, d) ? cudaErrorInvalidValue : cudaSuccess);
        multicast<<<8, 32, tile>>>(m, 28, 3, ranks, tile, (uint8_t *)out);
        tell("multicast to " + std::to_string(ranks), to_host(out, 8 * tile), want);
        cudaFree(d), cudaFree(out);
    }
}

// ---- maps that the encoder refuses ----

struct call {
    CUtensorMap m;
    CUtensorMapDataType type = F32;
    uint32_t rank = 2;
    uint64_t address = 4096, dim[5] = {64, 64, 4, 4, 4}, stride[4] = {256, 16384, 65536, 262144};
    uint32_t box[5] = {16, 16, 1, 1, 1}, step[5] = {1, 1, 1, 1, 1};
    int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};
template <class F> static void refused(const char *name, F change) {
    call c;
    change(c);
    printf("%-44s %d\n", name, encode(&c.m, c.type, c.rank, (void *)c.address, c.dim, c.stride, c.box, c.step, (CUtensorMapInterleave)c.interleave,
                                      (CUtensorMapSwizzle)c.swizzle, (CUtensorMapL2promotion)c.promotion, (CUtensorMapFloatOOBfill)c.fill));
}

static void conditions(bool doubts) {
    refused("encode", [](call &) {});
    refused("encode, rank 0", [](call &c) { c.rank = 0; });
    refused("encode, rank 5", [](call &c) { c.rank = 5; });
    refused("encode, rank 6", [](call &c) { c.rank = 6; });
    refused("encode, address + 8", [](call &c) { c.address += 8; });
    refused("encode, address + 16", [](call &c) { c.address += 16; });
    refused("encode, size 0", [](call &c) { c.dim[1] = 0; });
    refused("encode, size 2^32", [](call &c) { c.dim[1] = 1ull << 32; });
    refused("encode, size 2^32 + 1", [](call &c) { c.dim[1] = (1ull << 32) + 1; });
    refused("encode, stride + 8", [](call &c) { c.stride[0] += 8; });
    refused("encode, stride 2^40", [](call &c) { c.stride[0] = 1ull << 40; });
    refused("encode, stride 2^40 - 16", [](call &c) { c.stride[0] = (1ull << 40) - 16; });
    refused("encode, box 0", [](call &c) { c.box[1] = 0; });
    refused("encode, box 256", [](call &c) { c.box[1] = 256; });
    refused("encode, box 257", [](call &c) { c.box[1] = 257; });
    refused("encode, row of 8 bytes", [](call &c) { c.box[0] = 2; });
    refused("encode, row of 1024 bytes", [](call &c) { c.box[0] = 256; });
    refused("encode, step 0", [](call &c) { c.step[1] = 0; });
    refused("encode, step 8", [](call &c) { c.step[1] = 8; });
    refused("encode, step 9", [](call &c) { c.step[1] = 9; });
    refused("encode, swizzle 32 of 32 bytes", [](call &c) { c.swizzle = 1, c.box[0] = 8; });
    refused("encode, swizzle 32 of 48 bytes", [](call &c) { c.swizzle = 1, c.box[0] = 12; });
    refused("encode, swizzle 64 of 80 bytes", [](call &c) { c.swizzle = 2, c.box[0] = 20; });
    refused("encode, swizzle 128 of 128 bytes", [](call &c) { c.swizzle = 3, c.box[0] = 32; });
    refused("encode, swizzle 128 of 144 bytes", [](call &c) { c.swizzle = 3, c.box[0] = 36; });
    refused("encode, NaN for integers", [](call &c) { c.fill = 1, c.type = CU_TENSOR_MAP_DATA_TYPE_INT32; });
    refused("encode, unknown fill", [](call &c) { c.fill = 2; });
    refused("encode, unknown type", [](call &c) { c.type = (CUtensorMapDataType)99; });
    refused("encode, unknown promotion", [](call &c) { c.promotion = 9; });
    if (!doubts) return;
    refused("encode, no address", [](call &c) { c.address = 0; });
    refused("encode, stride 0", [](call &c) { c.stride[0] = 0; });
    refused("encode, stride below a row", [](call &c) { c.stride[0] = 16; });
    refused("encode, strides that fall", [](call &c) { c.rank = 3, c.stride[1] = 16; });
    refused("encode, box larger than shared memory", [](call &c) { c.rank = 3, c.box[0] = c.box[1] = c.box[2] = 256; });
    refused("encode, box larger than the tensor", [](call &c) { c.box[1] = 256, c.dim[1] = 3; });
    refused("encode, step 2 in dimension 0", [](call &c) { c.step[0] = 2; });
    refused("encode, step 9 in dimension 0", [](call &c) { c.step[0] = 9; });
    refused("encode, step above the box", [](call &c) { c.step[1] = 8, c.box[1] = 4; });
    refused("encode, swizzle of 32 byte atoms", [](call &c) { c.swizzle = 4; });
    refused("encode, FLOAT32_FTZ", [](call &c) { c.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ; });
    refused("encode, TFLOAT32", [](call &c) { c.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32; });
}

static void show(const char *name, const tensor &t, place p, const bytes &in, int shown) {
    bytes got = loaded(t, p, 0, in, shown);
    printf("%s\n", name);
    for (int i = 0; i < shown; i++) printf("%02x%s", got[i], i % 32 == 31 ? "\n" : i % 16 == 15 ? "  " : "");
}
// Undocumented results: rows shorter than their swizzle's span, steps in dimension 0, conversions, the NaN's bits.
static void as_it_comes(int which) {
    tensor t = {F32, 4, 2, {32, 16}, {128}, {16, 5}, {1, 1}, S128, false};
    tensor s = {F32, 4, 1, {64}, {}, {16}, {1}, NONE, false};
    bytes in(size_of(t));
    for (size_t i = 0; i < in.size(); i++) in[i] = (uint8_t)(i / 16);
    if (which == 0) show("rows of 64 bytes, swizzle 128", t, {2, {0, 0}}, in, 768);
    t.box[0] = 8, t.box[1] = 6, t.swizzle = S64;
    if (which == 1) show("rows of 32 bytes, swizzle 64", t, {2, {0, 0}}, in, 512);
    t.box[0] = 4, t.swizzle = S32;
    if (which == 2) show("rows of 16 bytes, swizzle 32", t, {2, {0, 0}}, in, 256);
    for (size_t i = 0; i < in.size(); i++) in[i] = (uint8_t)(i / 4);
    s.step[0] = 2;
    if (which == 3) show("step 2 in dimension 0", s, {1, {0}}, in, 128);
    s.step[0] = 1;
    uint32_t odd[] = {0x3f800001, 0x3f801fff, 0x3f801000, 0x3f803000, 0x00000001, 0x807fffff, 0x7f800001, 0xffffffff, 0x7fc01234, 0xff800000, 0, 0x80000000, 1, 2, 3, 4};
    memcpy(in.data(), odd, sizeof odd);
    static const struct { CUtensorMapDataType type; int element; } types[] = {
        {F32, 4}, {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4}, {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4}, {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2}, {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2}, {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8}};
    for (int i = 0; i < 7; i++) {
        s.type = types[i].type, s.element = types[i].element, s.box[0] = 64 / s.element;
        std::string name = "type " + std::to_string(s.type);
        s.nan = false;
        if (which == 4 + i) show(name.c_str(), s, {1, {0}}, in, 64);
        s.nan = true;
        if (which == 11 + i) show((name + ", NaN outside").c_str(), s, {1, {64 - 32 / s.element}}, in, 64);
    }
}

// The same for stores: converted elements, and the bytes after a row that is not a multiple of 16 bytes.
static void as_it_goes(int which) {
    static const CUtensorMapDataType types[] = {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, F32};
    static const uint32_t odd[] = {0x3f800001, 0x3f801fff, 0x3f801000, 0x3f803000, 0x00000001, 0x807fffff, 0x7f800001, 0xffffffff, 0x7fc01234, 0xff800000, 0, 0x80000000, 1, 2, 3, 4};
    tensor t = {types[which], 4, 1, {13}, {}, {16}, {1}, NONE, false};
    bytes in(64), before(64, 0);
    memcpy(in.data(), odd, 64);
    if (skipped()) return;
    CUtensorMap m;
    void *d = to_device(before), *from = to_device(in);
    check("encode", make(&m, t, d) ? cudaErrorInvalidValue : cudaSuccess);
    store_tile<<<1, 64, 64>>>(m, {1, {0}}, -1, 64, (const uint8_t *)from);
    bytes got = to_host(d, 64);
    printf("store type %d, 13 elements of 16\n", t.type);
    for (int i = 0; i < 64; i++) printf("%02x%s", got[i], i % 32 == 31 ? "\n" : i % 16 == 15 ? "  " : "");
}

int main(int argc, char **argv) {
    if (argc > 2) only = atoi(argv[2]);
    void *f;
    cudaDriverEntryPointQueryResult found;
    check("entry point", cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
    encode = (decltype(encode))f;
    printf("found: %d, no such call: ", found == cudaDriverEntryPointSuccess);
    check("entry point", cudaGetDriverEntryPointByVersion("cuNoSuchCall", &f, 12000, cudaEnableDefault, &found));
    printf("%d\n", found);
    check("context", cudaFree(nullptr));
    loads();
    swizzles();
    stores();
    reductions();
    for (int i = 0; i < 4; i++) as_it_goes(i);
    if (only >= 0) return only < cases ? 0 : 3;
    multicasts();
    conditions(argc > 1);
    for (int i = 0; i < 18; i++) as_it_comes(i);
    printf("%d failures\n", failures);
    return failures != 0;
}
