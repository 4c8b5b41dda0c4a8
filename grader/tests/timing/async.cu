// async.cu — the versions of chapter 13 at their timed sizes, the ring of `stages` at several lengths, an array in parts in streams, launches with
// and without a graph. Caches cold (but for streams), medians of 21; a line a version: exercise, version, us, and whether its result is the first one's.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -I. grader/tests/timing/async.cu -o async; ./async
//
// Run from the top of the tree. Figures: docs/results/h100/async.tsv.
#include "grader/tests/timing/cold.cuh"
#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <cuda_pipeline.h>
#include <vector>

#define async_tiles async_tiles_a1
namespace a1 {
#include "solutions/13-async/async_tiles-1-wait.cu"
}
#undef async_tiles
#define async_tiles async_tiles_a2
namespace a2 {
#include "solutions/13-async/async_tiles-2-one-buffer.cu"
}
#undef async_tiles
#define async_tiles async_tiles_a3
namespace a3 {
#include "solutions/13-async/async_tiles-3-registers.cu"
}
#undef async_tiles
#define async_tiles async_tiles_a4
namespace a4 {
#include "solutions/13-async/async_tiles-4-two-buffers.cu"
}
#undef async_tiles
#define async_tiles async_tiles_a5
namespace a5 {
#include "solutions/13-async/async_tiles.cu"
}
#undef async_tiles
#define stages stages_s1
namespace s1 {
#include "solutions/13-async/stages-1-one-ahead.cu"
}
#undef stages
#define stages stages_s2
namespace s2 {
#include "solutions/13-async/stages-2-three-ahead.cu"
}
#undef stages
#define stages stages_s3
namespace s3 {
#include "solutions/13-async/stages.cu"
}
#undef stages
#define bulk_rows bulk_rows_b1
namespace b1 {
#include "solutions/13-async/bulk_rows-1-words.cu"
}
#undef bulk_rows
#define bulk_rows bulk_rows_b2
namespace b2 {
#include "solutions/13-async/bulk_rows-2-vectors.cu"
}
#undef bulk_rows
#define bulk_rows bulk_rows_b3
namespace b3 {
#include "solutions/13-async/bulk_rows.cu"
}
#undef bulk_rows
#define bulk_rows bulk_rows_b4
namespace b4 {
#include "grader/tests/others/13-async/bulk_rows/ring.cu"
}
#undef bulk_rows
#define async_tiles async_tiles_a6
namespace a6 {
#include "grader/tests/others/13-async/async_tiles/bulk.cu"
}
#undef async_tiles
#define stages stages_s4
namespace s4 {
#include "grader/tests/others/13-async/stages/bulk.cu"
}
#undef stages

// The model solution of `stages`, of any length.
template <int STAGES> __global__ void __launch_bounds__(128) ring(int *out, const int *from, const int *costs, int layers) {
    __shared__ __align__(16) int tile[STAGES][4][8][32];
    __shared__ int found[2][4][32];
    int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    const int4 *mine = reinterpret_cast<const int4 *>(costs + (size_t)blockIdx.x * layers * 1024 + w * 256) + lane;
    int best = from[blockIdx.x * 32 + lane];
    auto fetch = [&](int l) {
#pragma unroll
        for (int k = 0; k < 2; k++)
            if (l < layers) __pipeline_memcpy_async(reinterpret_cast<int4 *>(tile[l % STAGES][w]) + k * 32 + lane, mine + l * 256 + k * 32, 16);
        __pipeline_commit();
    };
    for (int l = 0; l < STAGES - 1; l++) fetch(l);
    for (int l = 0; l < layers; l++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncwarp();
        fetch(l + STAGES - 1);
        int least = INT_MAX;
#pragma unroll
        for (int i = 0; i < 8; i++) least = min(least, __shfl_sync(~0u, best, w * 8 + i) + tile[l % STAGES][w][i][lane]);
        found[l % 2][w][lane] = least;
        __syncthreads();
        best = INT_MAX;
#pragma unroll
        for (int k = 0; k < 4; k++) best = min(best, found[l % 2][k][lane]);
    }
    if (w == 0) out[blockIdx.x * 32 + lane] = best;
}

__global__ void draw(int *p, size_t n, unsigned mask, unsigned seed) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        unsigned h = (unsigned)i * 2654435761u + seed;
        h ^= h >> 15, h *= 2246822519u, h ^= h >> 13, h *= 3266489917u, h ^= h >> 16;
        p[i] = h & mask;
    }
}
__global__ void differ(const int *a, const int *b, size_t n, int *count) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        if (a[i] != b[i]) atomicAdd(count, 1);
}
// What it takes to read as many bytes: many blocks, 16 bytes a lane, four loads under way.
__global__ void __launch_bounds__(512) read_all(const int4 *p, int n, int *out) {
    int s = 0, step = gridDim.x * 512, i = blockIdx.x * 512 + threadIdx.x;
    for (; i + 3 * step < n; i += 4 * step) {
        int4 a = p[i], b = p[i + step], c = p[i + 2 * step], d = p[i + 3 * step];
        s ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
    }
    for (; i < n; i += step) s ^= p[i].x ^ p[i].y ^ p[i].z ^ p[i].w;
    if (s == 0x12345) *out = s;
}
__global__ void small(int *p) {
    if (threadIdx.x == 0) p[blockIdx.x] += 1;
}
__global__ void __launch_bounds__(256) work(float *p, int n, int rounds) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float v = p[i];
    for (int k = 0; k < rounds; k++) v = v * 0.999f + 0.001f;
    p[i] = v;
}

static int *out, *want, *from, *costs, *indices, *bad;

template <class F> static void version(const char *exercise, const char *name, size_t words, bool first, F f) {
    int host = 0;
    cudaMemset(out, 0x77, words * 4), f();
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) return (void)printf("%s\t%s\t%s\n", exercise, name, cudaGetErrorString(e));
    if (first) cudaMemcpy(want, out, words * 4, cudaMemcpyDeviceToDevice);
    cudaMemset(bad, 0, 4), differ<<<264, 512>>>(out, want, words, bad), cudaMemcpy(&host, bad, 4, cudaMemcpyDeviceToHost);
    printf("%s\t%s\t%.2f\t%s\n", exercise, name, cold_median(f), host ? "WRONG" : "right");
    fflush(stdout);
}
#define RING(n) version("stages", "ring of " #n, 128 * 32, false, [=] { ring<n><<<128, 128>>>(out, from, costs, 256); })

// 64 MB in, worked on, and out: as one part, and in parts in streams of their own.
static void parts(const int most) {
    const int total = 1 << 24;
    float *host, *dev;
    cudaStream_t q[8];
    cudaMallocHost(&host, total * 4), cudaMalloc(&dev, total * 4), memset(host, 0, total * 4);
    for (cudaStream_t &s : q) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    for (int m = 1; m <= most; m *= 2) {
        std::vector<double> t;
        for (int r = 0; r <= 11; r++) {
            auto begin = std::chrono::steady_clock::now();
            for (int k = 0, n = total / m; k < m; k++) {
                float *d = dev + (size_t)k * n, *h = host + (size_t)k * n;
                cudaMemcpyAsync(d, h, n * 4, cudaMemcpyHostToDevice, q[k]);
                work<<<n / 256, 256, 0, q[k]>>>(d, n, 6000);
                cudaMemcpyAsync(h, d, n * 4, cudaMemcpyDeviceToHost, q[k]);
            }
            cudaDeviceSynchronize();
            if (r) t.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
        }
        std::sort(t.begin(), t.end());
        printf("streams\tparts: %d\t%.1f\tright\n", m, t[5]);
    }
    float ms[2];
    cudaEvent_t e0, e1;
    cudaEventCreate(&e0), cudaEventCreate(&e1);
    cudaEventRecord(e0), cudaMemcpyAsync(dev, host, total * 4, cudaMemcpyHostToDevice), cudaEventRecord(e1), cudaEventSynchronize(e1), cudaEventElapsedTime(ms, e0, e1);
    cudaEventRecord(e0), work<<<total / 256, 256>>>(dev, total, 6000), cudaEventRecord(e1), cudaEventSynchronize(e1), cudaEventElapsedTime(ms + 1, e0, e1);
    printf("streams\tcopy in alone\t%.1f\tright\nstreams\twork alone\t%.1f\tright\n", ms[0] * 1e3, ms[1] * 1e3);
}

static void graphs() {
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t x;
    int *p = bad;
    auto many = [=](cudaStream_t q) {
        for (int i = 0; i < 64; i++) small<<<1, 32, 0, q>>>(p);
    };
    cudaStreamCreate(&s), cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), many(s), cudaStreamEndCapture(s, &g), cudaGraphInstantiate(&x, g, 0);
    printf("launches\t64 in a stream\t%.2f\tright\n", cold_median([=] { many(0); }));
    printf("launches\t64 as a graph\t%.2f\tright\n", cold_median([=] { cudaGraphLaunch(x, 0); }));
}

int main() {
    const size_t n = (size_t)8192 * 4096, result = (size_t)4096 * 4096;
    cudaMalloc(&out, result * 4), cudaMalloc(&want, result * 4), cudaMalloc(&from, 1 << 20);
    cudaMalloc(&costs, n * 4), cudaMalloc(&indices, 4096 * 4), cudaMalloc(&bad, 4);
    draw<<<1024, 256>>>(costs, n, 0xfffff, 1), draw<<<64, 256>>>(from, 1 << 18, 0xfff, 2), draw<<<16, 256>>>(indices, 4096, 8191, 3);
    cudaDeviceSynchronize();
    const int *index = indices;
    printf("exercise\tversion\tus\tresult\n");
    version("async_tiles", "1-wait", 128 * 512, true, [=] { a1::async_tiles_a1(out, from, costs, 128, 64); });
    version("async_tiles", "2-one-buffer", 128 * 512, false, [=] { a2::async_tiles_a2(out, from, costs, 128, 64); });
    version("async_tiles", "3-registers", 128 * 512, false, [=] { a3::async_tiles_a3(out, from, costs, 128, 64); });
    version("async_tiles", "4-two-buffers", 128 * 512, false, [=] { a4::async_tiles_a4(out, from, costs, 128, 64); });
    version("async_tiles", "solution", 128 * 512, false, [=] { a5::async_tiles_a5(out, from, costs, 128, 64); });
    version("async_tiles", "bulk", 128 * 512, false, [=] { a6::async_tiles_a6(out, from, costs, 128, 64); });
    version("stages", "1-one-ahead", 128 * 32, true, [=] { s1::stages_s1(out, from, costs, 128, 256); });
    version("stages", "2-three-ahead", 128 * 32, false, [=] { s2::stages_s2(out, from, costs, 128, 256); });
    version("stages", "solution", 128 * 32, false, [=] { s3::stages_s3(out, from, costs, 128, 256); });
    version("stages", "bulk", 128 * 32, false, [=] { s4::stages_s4(out, from, costs, 128, 256); });
    RING(2); RING(3); RING(5); RING(6); RING(10);
    version("bulk_rows", "1-words", 4096 * 4096, true, [=] { b1::bulk_rows_b1((float *)out, (const float *)costs, index, 4096, 8192, 4096); });
    version("bulk_rows", "2-vectors", 4096 * 4096, false, [=] { b2::bulk_rows_b2((float *)out, (const float *)costs, index, 4096, 8192, 4096); });
    version("bulk_rows", "solution", 4096 * 4096, false, [=] { b3::bulk_rows_b3((float *)out, (const float *)costs, index, 4096, 8192, 4096); });
    version("bulk_rows", "ring", 4096 * 4096, false, [=] { b4::bulk_rows_b4((float *)out, (const float *)costs, index, 4096, 8192, 4096); });
    printf("read\t134 MB\t%.2f\tright\n", cold_median([=] { read_all<<<528, 512>>>((const int4 *)costs, 128 * 64 * 1024, bad); }));
    printf("copy\t67 MB\t%.2f\tright\n", cold_median([=] { cudaMemcpyAsync(out, costs, result * 4, cudaMemcpyDeviceToDevice); }));
    graphs();
    parts(8);
    return cudaDeviceSynchronize();
}
