// clusters.cu — what clusters and barriers of the grid cost, and the versions of chapter 15 with others that were tried; a line each.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -I. grader/tests/timing/clusters.cu -o clusters; ./clusters
//
// Run from the top of the tree. Times: cold caches, medians of 21. Figures: docs/results/h100/clusters.tsv, which also has further forms of a first run
// ("first run": of each version in other sizes of blocks and clusters, kept in registers or brought by bulk copies).
#include "grader/tests/timing/cold.cuh"
#include <algorithm>
#include <cfloat>
#include <cooperative_groups.h>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>
// A version's temporaries: allocating them is not timed, as in the grader's replays.
static void *stash_;
static cudaError_t stash(void **p) {
    if (!stash_) cudaMalloc(&stash_, 64 << 20);
    *p = stash_;
    return cudaSuccess;
}
#define cudaMalloc(p, n) stash((void **)(p))
#define cudaFree(p) (void)0
#define long_rows long_rows_0
namespace l0 {
#include "solutions/15-clusters/long_rows-1-three-reads.cu"
}
#undef long_rows
#define long_rows long_rows_1
namespace l1 {
#include "solutions/15-clusters/long_rows-2-two-kernels.cu"
}
#undef long_rows
#define long_rows long_rows_2
namespace l2 {
#include "solutions/15-clusters/long_rows-3-cluster.cu"
}
#undef long_rows
#define long_rows long_rows_3
namespace l3 {
#include "solutions/15-clusters/long_rows.cu"
}
#undef long_rows
#define threshold threshold_0
namespace t0 {
#include "solutions/15-clusters/threshold-1-launches.cu"
}
#undef threshold
#define threshold threshold_1
namespace t1 {
#include "solutions/15-clusters/threshold-2-block-a-row.cu"
}
#undef threshold
#define threshold threshold_2
namespace t2 {
#include "solutions/15-clusters/threshold-3-cluster.cu"
}
#undef threshold
#define threshold threshold_3
namespace t3 {
#include "solutions/15-clusters/threshold-4-told.cu"
}
#undef threshold
#define threshold threshold_4
namespace t4 {
#include "solutions/15-clusters/threshold.cu"
}
#undef threshold
#undef cudaMalloc
#undef cudaFree
namespace cg = cooperative_groups;
static void must(cudaError_t e, const char *what) {
    if (e != cudaSuccess) printf("ERROR %s: %s\n", what, cudaGetErrorString(e)), fflush(stdout);
    if (e != cudaSuccess) cudaGetLastError();
}
// ---------------------------------------------------------------- launches
template <class... P, class... A>
static cudaError_t go(void (*k)(P...), int grid, int threads, size_t shared, int cluster, A... args) {
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[1];
    c.gridDim = grid, c.blockDim = threads, c.dynamicSmemBytes = shared;
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = cluster, a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
    c.attrs = a, c.numAttrs = 1;
    return cudaLaunchKernelEx(&c, k, P(args)...);
}
template <class K> static void allow(K k, size_t shared, int cluster = 1) {
    must(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared), "attribute");
    if (cluster > 8) must(cudaFuncSetAttribute(k, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "large");
}
__device__ unsigned hash(unsigned x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16; }
__global__ void chase(long long *cycles, int *sink, int hop, int steps) {
    extern __shared__ int next[];
    cg::cluster_group c = cg::this_cluster();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (i + 33) & 1023;
    c.sync();
    int *there = c.map_shared_rank(next, (c.block_rank() + hop) % c.num_blocks()), p = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 64; i++) p = there[p];
        long long t0 = clock64();
        for (int i = 0; i < steps; i++) p = there[p];
        long long t1 = clock64();
        if (blockIdx.x == 0) cycles[0] = t1 - t0, sink[0] = p;
    }
    c.sync();
}
__global__ void chase_atomic(long long *cycles, int *sink, int hop, int steps) {
    extern __shared__ int next[];
    cg::cluster_group c = cg::this_cluster();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (i + 33) & 1023;
    c.sync();
    int *there = c.map_shared_rank(next, (c.block_rank() + hop) % c.num_blocks()), p = 0;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        long long t0 = clock64();
        for (int i = 0; i < steps; i++) p = atomicAdd(&there[p], 0);
        long long t1 = clock64();
        cycles[0] = t1 - t0, sink[0] = p;
    }
    c.sync();
}
__global__ void grids(int n) {
    cg::grid_group g = cg::this_grid();
    for (int i = 0; i < n; i++) g.sync();
}
__global__ void empty() {}
enum { LD, LD4, LDROW, LDONE, ST, ST4, STROW, RED, LDROWS2, MODES };
static const char *const mode_name[] = {"load words", "load vectors of 4", "load words of 32 sectors", "load one word", "store words", "store vectors of 4", "store words of 32 sectors", "add words", "load words 8 bytes apart"};
constexpr int WORDS = 32768, ROUNDS = 128;
template <int MODE> __global__ void __launch_bounds__(1024, 1) stream(long long *cycles, int *sink, int hop) {
    extern __shared__ int room[];
    cg::cluster_group c = cg::this_cluster();
    int t = threadIdx.x, n = c.num_blocks(), sum = 0;
    for (int i = t; i < WORDS; i += blockDim.x) room[i] = i;
    c.sync();
    unsigned mine = (unsigned)__cvta_generic_to_shared(room), there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine), "r"((c.block_rank() + hop) % n));
    long long t0 = clock64();
#pragma unroll 8
    for (int r = 0; r < ROUNDS; r++) {
        int v = 0, w = 0, x = 0, y = 0;
        unsigned at = there + 4 * ((t + r * 1024) & (WORDS - 1)), at4 = there + 16 * ((t + r * 1024) & (WORDS / 4 - 1)), row = there + 4 * ((t % 32 * 8 + t / 32 + r * 256) & (WORDS - 1));
        if (MODE == LD) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(at));
        if (MODE == LD4) asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v), "=r"(w), "=r"(x), "=r"(y) : "r"(at4));
        if (MODE == LDROW) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(row));
        if (MODE == LDROWS2) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there + 8 * ((t + r * 1024) & (WORDS / 2 - 1))));
        if (MODE == LDONE) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there + 4 * r));
        if (MODE == ST) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(r) : "memory");
        if (MODE == ST4) asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at4), "r"(r) : "memory");
        if (MODE == STROW) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(row), "r"(r) : "memory");
        if (MODE == RED) asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(at), "r"(r) : "memory");
        sum += v + w + x + y;
    }
    c.sync();
    long long t1 = clock64();
    if (t == 0) atomicMax((unsigned long long *)cycles, (unsigned long long)(t1 - t0));
    if (sum == 12345) sink[0] = sum;
    c.sync();
}
template <int KIND> __global__ void barriers(long long *cycles, int n) {
    cg::cluster_group c = cg::this_cluster();
    c.sync();
    long long t0 = clock64();
    for (int i = 0; i < n; i++) {
        if (KIND == 0) asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
        if (KIND == 1) asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
        if (KIND == 2) asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
        if (KIND == 3) { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); float x = n; for (int k = 0; k < 150; k++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x)); asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
        if (KIND == 4) __threadfence();
        if (KIND == 5) asm volatile("fence.acq_rel.cluster;" ::: "memory");
    }
    long long t1 = clock64();
    if (threadIdx.x == 0 && blockIdx.x == 0) cycles[0] = t1 - t0;
    c.sync();
}
static long long *cycles;
static int *sink;
template <int MODE> static void streams() {
    size_t shared = 200 << 10;
    allow(stream<MODE>, shared);
    for (int n : {1, 2, 4, 8}) {
        long long c = 0;
        cudaMemset(cycles, 0, 8);
        must(go(stream<MODE>, 120 / n * n, 1024, shared, n, cycles, sink, n > 1), mode_name[MODE]);
        must(cudaMemcpy(&c, cycles, 8, cudaMemcpyDeviceToHost), mode_name[MODE]);
        printf("dsmem %s cluster %d: %.2f cycles a warp access and SM\n", mode_name[MODE], n, (double)c / (ROUNDS * 1024 / 32));
    }
}
template <int KIND> static void barrier_kind(const char *name) {
    for (int n : {1, 2, 8}) for (int threads : {32, 256, 320, 384, 512, 1024}) {
        long long c;
        must(go(barriers<KIND>, 120 / n * n, threads, 0, n, cycles, 256), "barriers");
        cudaMemcpy(&c, cycles, 8, cudaMemcpyDeviceToHost);
        printf("barrier %s cluster %d threads %d: %.1f cycles\n", name, n, threads, c / 256.0);
    }
}
static void remote() {
    streams<LD>(), streams<LD4>(), streams<LDROW>(), streams<LDROWS2>(), streams<LDONE>(), streams<ST>(), streams<ST4>(), streams<STROW>(), streams<RED>();
    barrier_kind<0>("plain"), barrier_kind<1>("relaxed arrival"), barrier_kind<3>("with 150 fma between"), barrier_kind<4>("none, __threadfence"), barrier_kind<5>("none, fence.cluster");
}
static void micro() {
    long long c;
    for (int n : {1, 2, 4, 8}) for (int hop = n > 1; hop < (n > 1 ? n : 1); hop++) {
        if (hop > 2 && hop != n - 1) continue;
        must(go(chase, n, 32, 8192, n, cycles, sink, hop, 1024), "chase");
        cudaMemcpy(&c, cycles, 8, cudaMemcpyDeviceToHost);
        printf("latency load cluster %d hop %d: %.1f cycles\n", n, hop, c / 1024.0);
        must(go(chase_atomic, n, 32, 8192, n, cycles, sink, hop, 1024), "chase");
        cudaMemcpy(&c, cycles, 8, cudaMemcpyDeviceToHost);
        printf("latency atomic cluster %d hop %d: %.1f cycles\n", n, hop, c / 1024.0);
    }
    // all blocks at once, so that the network is loaded by one lane each
    for (int n : {2, 4, 8}) {
        must(go(chase, 128, 32, 8192, n, cycles, sink, 1, 1024), "chase");
        cudaMemcpy(&c, cycles, 8, cudaMemcpyDeviceToHost);
        printf("latency load cluster %d, 128 blocks at it: %.1f cycles\n", n, c / 1024.0);
    }
    for (int threads : {32, 256, 1024}) for (int blocks : {1, 2, 4, 8, 16, 32, 66, 132, 264, 528, 1056}) {
        if (blocks * threads > 132 * 2048) continue;
        float t[2];
        for (int k = 0; k < 2; k++) {
            int n = k ? 220 : 20;
            void *args[] = {&n};
            t[k] = cold_median([&] { must(cudaLaunchCooperativeKernel((void *)grids, dim3(blocks), dim3(threads), args, 0, 0), "grids"); }, 7, false);
        }
        printf("grid.sync blocks %d threads %d: %.3f us each; launch with 20 of them %.2f us\n", blocks, threads, (t[1] - t[0]) / 200, t[0]);
    }
    void *none[] = {0};
    int zero = 0;
    none[0] = &zero;
    printf("launch, plain, empty: %.2f us\n", cold_median([&] { empty<<<132, 256>>>(); }, 21, false));
    printf("launch, cooperative, no barrier: %.2f us\n", cold_median([&] { cudaLaunchCooperativeKernel((void *)grids, dim3(132), dim3(256), none, 0, 0); }, 21, false));
    for (int n : {1, 2, 4, 8}) printf("launch, clusters of %d, 128 blocks: %.2f us\n", n, cold_median([&] { go(empty, 128, 256, 0, n); }, 21, false));
    for (int n : {1, 8}) printf("launch, clusters of %d, 16384 blocks: %.2f us\n", n, cold_median([&] { go(empty, 16384, 256, 0, n); }, 21, false));
    printf("launch, 100 plain in a row: %.2f us each\n", cold_median([&] { for (int i = 0; i < 100; i++) empty<<<132, 256>>>(); }, 21, false) / 100);
    allow(chase, 227 << 10, 16);
    for (int kb : {0, 32, 64, 100, 128, 200, 227}) for (int n : {1, 2, 4, 8, 16}) for (int threads : {512, 1024}) {
        cudaLaunchConfig_t k = {};
        cudaLaunchAttribute a[1];
        k.gridDim = 16 * 33, k.blockDim = threads, k.dynamicSmemBytes = (size_t)kb << 10;
        a[0].id = cudaLaunchAttributeClusterDimension;
        a[0].val.clusterDim.x = n, a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
        k.attrs = a, k.numAttrs = 1;
        int most = -1;
        must(cudaOccupancyMaxActiveClusters(&most, chase, &k), "occupancy");
        printf("clusters that fit: of %d blocks of %d threads, %d KB: %d (%d blocks)\n", n, threads, kb, most, most * n);
    }
}
__global__ void draw(unsigned *x, size_t n, int kind, unsigned bins) { // 0: floats in [-5, 5); 1: words; 2: log-uniform bins; 3: uniform bins
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        unsigned h = hash((unsigned)i * 2654435761u + 12345);
        float u = h * 0x1p-32f;
        if (kind == 0) x[i] = __float_as_uint(u * 10 - 5);
        if (kind == 1) x[i] = h;
        if (kind == 2) x[i] = min((unsigned)exp2f(u * log2f((float)bins)) - 1, bins - 1);
        if (kind == 3) x[i] = h % bins;
    }
}
__global__ void differ(unsigned *count, const float *a, const float *b, size_t n, float tolerance) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        if (!(fabsf(a[i] - b[i]) <= tolerance * fabsf(a[i]))) atomicAdd(count, 1u);
}
__global__ void differ_words(unsigned *count, const unsigned *a, const unsigned *b, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        if (a[i] != b[i]) atomicAdd(count, 1u);
}
static void *in_, *out_, *want_;
static unsigned *bad;
static void one(const std::string &name, size_t words, bool floats, bool first, std::function<void()> f) {
    cudaMemset(out_, 0xcd, words * 4);
    float t = cold_median(f);
    must(cudaGetLastError(), name.c_str());
    must(cudaDeviceSynchronize(), name.c_str());
    unsigned n = 0;
    if (first) cudaMemcpy(want_, out_, words * 4, cudaMemcpyDeviceToDevice);
    cudaMemset(bad, 0, 4);
    if (floats) differ<<<512, 256>>>(bad, (float *)want_, (float *)out_, words, 1e-4f);
    else differ_words<<<512, 256>>>(bad, (unsigned *)want_, (unsigned *)out_, words);
    cudaMemcpy(&n, bad, 4, cudaMemcpyDeviceToHost);
    printf("%s\t%.2f\t%s\n", name.c_str(), t, n ? "WRONG" : "right");
    fflush(stdout);
}
__global__ void bins_global(unsigned *bins, const unsigned *keys, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n / 4; i += (size_t)gridDim.x * blockDim.x) {
        uint4 v = ((const uint4 *)keys)[i];
        atomicAdd(bins + v.x, 1), atomicAdd(bins + v.y, 1), atomicAdd(bins + v.z, 1), atomicAdd(bins + v.w, 1);
    }
}
template <bool ASIDE> __global__ void bins_cluster(unsigned *bins, const unsigned *keys, size_t n, unsigned nbins) { // bins in turn
    extern __shared__ unsigned mine[];
    cg::cluster_group c = cg::this_cluster();
    unsigned parts = c.num_blocks(), bits = 31 - __clz(parts), own = nbins / parts, rank = c.block_rank();
    for (unsigned i = threadIdx.x; i < own; i += blockDim.x) mine[i] = 0;
    c.sync();
    auto add = [&](unsigned key) { atomicAdd(c.map_shared_rank(mine, ASIDE ? key / own : key & (parts - 1)) + (ASIDE ? key % own : key >> bits), 1); };
    size_t step = (size_t)gridDim.x * blockDim.x;
#pragma unroll 2
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n / 4; i += step) {
        uint4 v = ((const uint4 *)keys)[i];
        add(v.x), add(v.y), add(v.z), add(v.w);
    }
    c.sync();
    for (unsigned i = threadIdx.x; i < own; i += blockDim.x) if (mine[i]) atomicAdd(bins + (ASIDE ? rank * own + i : i * parts + rank), mine[i]);
}
static void bins_all(const std::string &s, size_t n, unsigned nbins) {
    unsigned *bins = (unsigned *)out_;
    const unsigned *keys = (const unsigned *)in_;
    for (int parts : {4, 8}) {
        size_t shared = nbins / parts * 4;
        allow(bins_cluster<false>, shared, parts);
        int per = parts == 8 ? 3 : 1;
        one(s + " atomics in clusters of " + std::to_string(parts), nbins, false, false, [=] { cudaMemsetAsync(bins, 0, nbins * 4); must(go(bins_cluster<false>, 120 * per / parts * parts, per == 3 ? 512 : 1024, shared, parts, bins, keys, n, nbins), "bins"); });
    }
}

template <int PER> __global__ void __launch_bounds__(1024) packed_ranges(unsigned *bins, const unsigned *keys, size_t n, unsigned nbins, int parts) {
    extern __shared__ unsigned mine[];
    unsigned own = nbins / parts, first = blockIdx.x % parts * own;
    for (unsigned i = threadIdx.x; i < own / 2; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    auto add = [&](unsigned key) {
        unsigned k = key - first;
        if (k >= own) return;
        unsigned shift = (k & 1) * 16, old = atomicAdd(mine + k / 2, 1u << shift) >> shift & 0xffff;
        if (old == 0x7fff) atomicSub(mine + k / 2, 0x8000u << shift), atomicAdd(bins + key, 0x8000);
    };
    size_t step = (size_t)(gridDim.x / parts) * blockDim.x;
#pragma unroll 1
    for (size_t i = blockIdx.x / parts * (size_t)blockDim.x + threadIdx.x; i < n / 4; i += PER * step) {
        uint4 v[PER];
#pragma unroll
        for (int p = 0; p < PER; p++) v[p] = i + p * step < n / 4 ? ((const uint4 *)keys)[i + p * step] : make_uint4(~0u, ~0u, ~0u, ~0u);
#pragma unroll
        for (int p = 0; p < PER; p++) add(v[p].x), add(v[p].y), add(v[p].z), add(v[p].w);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < own; i += blockDim.x) { unsigned k = mine[i / 2] >> (i & 1) * 16 & 0xffff; if (k) atomicAdd(bins + first + i, k); }
}
template <int PER> __global__ void __launch_bounds__(1024) ranges_ahead(unsigned *bins, const unsigned *keys, size_t n, unsigned nbins, int parts) {
    extern __shared__ unsigned mine[];
    unsigned own = nbins / parts, first = blockIdx.x % parts * own;
    for (unsigned i = threadIdx.x; i < own; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    auto add = [&](unsigned key) { if (key - first < own) atomicAdd(mine + key - first, 1); };
    size_t step = (size_t)(gridDim.x / parts) * blockDim.x;
#pragma unroll 1
    for (size_t i = blockIdx.x / parts * (size_t)blockDim.x + threadIdx.x; i < n / 4; i += PER * step) {
        uint4 v[PER];
#pragma unroll
        for (int p = 0; p < PER; p++) v[p] = i + p * step < n / 4 ? ((const uint4 *)keys)[i + p * step] : make_uint4(~0u, ~0u, ~0u, ~0u);
#pragma unroll
        for (int p = 0; p < PER; p++) add(v[p].x), add(v[p].y), add(v[p].z), add(v[p].w);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < own; i += blockDim.x) if (mine[i]) atomicAdd(bins + first + i, mine[i]);
}
static void more_bins(size_t n, unsigned nbins, int kind) {
    unsigned *bins = (unsigned *)out_;
    const unsigned *keys = (const unsigned *)in_;
    std::string s = kind == 2 ? "bins 131072 skewed" : "bins 131072 uniform";
    draw<<<1024, 256>>>((unsigned *)in_, n, kind, nbins);
    auto clear = [=] { cudaMemsetAsync(bins, 0, nbins * 4); };
    one(s + " global", nbins, false, true, [=] { clear(); bins_global<<<1056, 512>>>(bins, keys, n); });
    allow(packed_ranges<1>, 131072), allow(packed_ranges<2>, 131072), allow(packed_ranges<4>, 131072), allow(ranges_ahead<2>, 131072), allow(ranges_ahead<4>, 131072), allow(ranges_ahead<1>, 131072);
    one(s + " packed, 2 ranges", nbins, false, false, [=] { clear(); packed_ranges<1><<<132, 1024, 131072>>>(bins, keys, n, nbins, 2); });
    one(s + " packed, 2 ranges, 2 ahead", nbins, false, false, [=] { clear(); packed_ranges<2><<<132, 1024, 131072>>>(bins, keys, n, nbins, 2); });
    one(s + " packed, 2 ranges, 4 ahead", nbins, false, false, [=] { clear(); packed_ranges<4><<<132, 1024, 131072>>>(bins, keys, n, nbins, 2); });
    one(s + " packed, 4 ranges, 2 an SM, 2 ahead", nbins, false, false, [=] { clear(); packed_ranges<2><<<264, 1024, 65536>>>(bins, keys, n, nbins, 4); });
    one(s + " packed, 4 ranges, 2 an SM, 4 ahead", nbins, false, false, [=] { clear(); packed_ranges<4><<<264, 1024, 65536>>>(bins, keys, n, nbins, 4); });
    one(s + " 4 ranges", nbins, false, false, [=] { clear(); ranges_ahead<1><<<132, 1024, 131072>>>(bins, keys, n, nbins, 4); });
    one(s + " 4 ranges, 2 ahead", nbins, false, false, [=] { clear(); ranges_ahead<2><<<132, 1024, 131072>>>(bins, keys, n, nbins, 4); });
    one(s + " 4 ranges, 4 ahead", nbins, false, false, [=] { clear(); ranges_ahead<4><<<132, 1024, 131072>>>(bins, keys, n, nbins, 4); });
    one(s + " 8 ranges, 2 an SM, 4 ahead", nbins, false, false, [=] { clear(); ranges_ahead<4><<<264, 1024, 65536>>>(bins, keys, n, nbins, 8); });
    bins_all(s, n, nbins);
}
static void versions(int rows, int cols) {
    size_t words = (size_t)rows * cols;
    float *out = (float *)out_;
    const float *in = (const float *)in_;
    std::string s = std::to_string(rows) + " ";
    draw<<<1024, 256>>>((unsigned *)in_, words, 0, 0);
    printf("long_rows %d copy\t%.2f\n", rows, cold_median([=] { cudaMemcpyAsync(out, in, words * 4, cudaMemcpyDeviceToDevice); }));
    one("long_rows " + s + "long_rows-1-three-reads", words, true, true, [=] { l0::long_rows_0(out, in, rows, cols); });
    one("long_rows " + s + "long_rows-2-two-kernels", words, true, false, [=] { l1::long_rows_1(out, in, rows, cols); });
    one("long_rows " + s + "long_rows-3-cluster", words, true, false, [=] { l2::long_rows_2(out, in, rows, cols); });
    one("long_rows " + s + "long_rows", words, true, false, [=] { l3::long_rows_3(out, in, rows, cols); });
    one("threshold " + s + "threshold-1-launches", rows, true, true, [=] { t0::threshold_0(out, in, rows, cols); });
    one("threshold " + s + "threshold-2-block-a-row", rows, true, false, [=] { t1::threshold_1(out, in, rows, cols); });
    one("threshold " + s + "threshold-3-cluster", rows, true, false, [=] { t2::threshold_2(out, in, rows, cols); });
    one("threshold " + s + "threshold-4-told", rows, true, false, [=] { t3::threshold_3(out, in, rows, cols); });
    one("threshold " + s + "threshold", rows, true, false, [=] { t4::threshold_4(out, in, rows, cols); });
}
int main() {
    must(cudaMalloc(&cycles, 64), "cycles"), must(cudaMalloc(&sink, 64), "sink");
    must(cudaMalloc(&in_, 256u << 20), "in"), must(cudaMalloc(&out_, 256u << 20), "out"), must(cudaMalloc(&want_, 256u << 20), "want");
    must(cudaMalloc(&bad, 4), "bad");
    versions(128, 131072), versions(256, 131072);
    more_bins(1 << 25, 1 << 17, 2), more_bins(1 << 25, 1 << 17, 3);
    remote();
    micro();
    return 0;
}
