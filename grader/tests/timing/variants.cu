// variants.cu — what else was tried of four answers: their ladders quote it. Cold caches, medians of 15; a line a variant, with its rate.
//
//   nvcc -O3 -std=c++17 -arch=native -I. -Igrader/tests/gpu grader/tests/timing/variants.cu -o variants; ./variants
//
// Run from the top of the tree. Figures: docs/results/*/variants.tsv.
#include "driver.cuh"
#include "grader/tests/timing/cold.cuh"
#include <algorithm>
#include <string>
namespace sb {
#define shared_budget shared_budget_solution
#include "solutions/06-occupancy/shared_budget.cu"
#undef shared_budget
}
namespace ro {
#define read_only read_only_solution
#include "solutions/01-restrict/read_only.cu"
#undef read_only
}
namespace bs {
#define block_size block_size_solution
#include "solutions/06-occupancy/block_size.cu"
#undef block_size
}
namespace bs3 {
#define block_size block_size_step3
#include "solutions/06-occupancy/block_size-3-most-warps.cu"
#undef block_size
}
namespace rp {
#define radix_pass radix_pass_solution
#include "solutions/11-scan-and-sort/radix_pass.cu"
#undef radix_pass
}
namespace rp2 {
#define radix_pass radix_pass_step2
#include "solutions/11-scan-and-sort/radix_pass-2-match.cu"
#undef radix_pass
}
template <class F> static void measure(const std::string &name, double bytes, F f) {
    float us = cold_median(f, 15);
    must(cudaGetLastError(), name.c_str());
    printf("%s\t%.2f\t%.0f GB/s\n", name.c_str(), us, bytes / us / 1e3);
    fflush(stdout);
}
// ---- shared_budget
template <int VEC, bool EARLY, int PER> __global__ void __launch_bounds__(1024, 2) look(float *__restrict__ out, const int *__restrict__ index, const float *__restrict__ table, int n, int entries) {
    extern __shared__ float copy[];
    const int4 *ix = reinterpret_cast<const int4 *>(index);
    float4 *o = reinterpret_cast<float4 *>(out);
    int step = gridDim.x * 1024, i = blockIdx.x * 1024 + threadIdx.x;
    int4 next[PER];
    if (EARLY) for (int k = 0; k < PER; k++) if (i + k * step < n / 4) next[k] = ix[i + k * step];
    for (int e = threadIdx.x; e < entries / 4; e += 1024) reinterpret_cast<float4 *>(copy)[e] = reinterpret_cast<const float4 *>(table)[e];
    __syncthreads();
    for (; i < n / 4; i += step * PER) {
        int4 v[PER];
#pragma unroll
        for (int k = 0; k < PER; k++) {
            if (EARLY) { v[k] = next[k]; int j = i + (PER + k) * step; if (j < n / 4) next[k] = ix[j]; }
            else if (i + k * step < n / 4) v[k] = ix[i + k * step];
        }
#pragma unroll
        for (int k = 0; k < PER; k++) if (i + k * step < n / 4) o[i + k * step] = make_float4(copy[v[k].x], copy[v[k].y], copy[v[k].z], copy[v[k].w]);
    }
}
template <int PER> __global__ void __launch_bounds__(1024, 2) look1(float *__restrict__ out, const int *__restrict__ index, const float *__restrict__ table, int n, int entries) {
    extern __shared__ float copy[];
    int step = gridDim.x * 1024, i = blockIdx.x * 1024 + threadIdx.x;
    for (int e = threadIdx.x; e < entries; e += 1024) copy[e] = table[e];
    __syncthreads();
    for (; i < n; i += step * PER) {
        int v[PER];
#pragma unroll
        for (int k = 0; k < PER; k++) if (i + k * step < n) v[k] = index[i + k * step];
#pragma unroll
        for (int k = 0; k < PER; k++) if (i + k * step < n) out[i + k * step] = copy[v[k]];
    }
}
// ---- read_only
__global__ void rot4(float4 *__restrict__ ore, float4 *__restrict__ oim, const float4 *__restrict__ re, const float4 *__restrict__ im, const float *__restrict__ r, int n4) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += step) {
        float4 a = re[i], b = im[i]; float c = r[0], s = r[1];
        ore[i] = make_float4(a.x * c - b.x * s, a.y * c - b.y * s, a.z * c - b.z * s, a.w * c - b.w * s);
        oim[i] = make_float4(a.x * s + b.x * c, a.y * s + b.y * c, a.z * s + b.z * c, a.w * s + b.w * c);
    }
}
template <int PER> __global__ void rot1(float *__restrict__ ore, float *__restrict__ oim, const float *__restrict__ re, const float *__restrict__ im, const float *__restrict__ r, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step * PER) {
        float a[PER], b[PER];
#pragma unroll
        for (int k = 0; k < PER; k++) if (i + k * step < n) a[k] = re[i + k * step], b[k] = im[i + k * step];
#pragma unroll
        for (int k = 0; k < PER; k++) if (i + k * step < n) ore[i + k * step] = a[k] * r[0] - b[k] * r[1], oim[i + k * step] = a[k] * r[1] + b[k] * r[0];
    }
}
// ---- block_size
template <int AHEAD, bool OVERLAP, bool STREAM> __global__ void echo(float *out, const float *in, int signals, int length) {
    extern __shared__ float ring[];
    const int DELAY = 40;
    int t = threadIdx.x, s = blockIdx.x * blockDim.x + t;
    if (s >= signals) return;
    float x[AHEAD], y[AHEAD];
    auto get = [&](float *v, int first) {
#pragma unroll
        for (int a = 0; a < AHEAD; a++) if (first + a < length) v[a] = STREAM ? __ldcs(in + (size_t)(first + a) * signals + s) : in[(size_t)(first + a) * signals + s];
    };
    if (OVERLAP) get(y, 0);
    for (int slot = 0; slot < DELAY; slot++) ring[slot * blockDim.x + t] = 0.0f;
    for (int first = 0; first < length; first += AHEAD) {
        if (OVERLAP) {
#pragma unroll
            for (int a = 0; a < AHEAD; a++) x[a] = y[a];
            get(y, first + AHEAD);
        } else get(x, first);
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            int j = first + a;
            if (j >= length) break;
            float *old = &ring[j % DELAY * blockDim.x + t];
            *old = x[a] + 0.5f * *old;
            if (STREAM) __stcs(out + (size_t)j * signals + s, *old); else out[(size_t)j * signals + s] = *old;
        }
    }
}
__global__ void copyk(float4 *to, const float4 *from, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) to[i] = from[i]; }
int main() {
    const int n = 1 << 25, entries = 16000;
    float *a, *b, *table; int *ix;
    must(cudaMalloc(&a, 4u << 25), "a"), must(cudaMalloc(&b, 4u << 25), "b"), must(cudaMalloc(&table, 1 << 20), "t"), must(cudaMalloc(&ix, 4u << 25), "i");
    cudaMemset(a, 0, 4u << 25), cudaMemset(table, 0, 1 << 20);
    std::vector<int> h(n); whole w(0, entries - 1);
    for (int i = 0; i < n; i++) h[i] = w(i);
    cudaMemcpy(ix, h.data(), 4u << 25, cudaMemcpyHostToDevice);
    double B = 8.0 * n;
    measure("copy16 of 134 MB", B, [=] { copyk<<<n / 4 / 256, 256>>>((float4 *)b, (float4 *)a, n / 4); });
    measure("memcpy of 134 MB", B, [=] { cudaMemcpyAsync(b, a, 4ull * n, cudaMemcpyDeviceToDevice); });
    measure("radix_pass solution", B / 2, [=] { rp::radix_pass_solution((unsigned *)b, (unsigned *)ix, n / 2, 8); });
    measure("radix_pass step 2", B / 2, [=] { rp2::radix_pass_step2((unsigned *)b, (unsigned *)ix, n / 2, 8); });
    measure("shared_budget solution", B, [=] { sb::shared_budget_solution(b, ix, table, n, entries); });
#define LOOK(K, N) cudaFuncSetAttribute(K, cudaFuncAttributeMaxDynamicSharedMemorySize, 64000); measure("shared_budget " N, B, [=] { K<<<264, 1024, 64000>>>(b, ix, table, n, entries); });
    { auto K = look<4, false, 1>; LOOK(K, "vectors of 4") }
    { auto K = look<4, true, 1>; LOOK(K, "vectors of 4, next fetched before") }
    { auto K = look<4, false, 2>; LOOK(K, "2 vectors of 4") }
    { auto K = look1<2>; LOOK(K, "2 words") }
    { auto K = look1<4>; LOOK(K, "4 words") }
    { auto K = look1<8>; LOOK(K, "8 words") }
    const int m = 1 << 24; float *re = a, *im = a + m, *ore = b, *oim = b + m;
    measure("read_only solution", B, [=] { ro::read_only_solution(ore, oim, re, im, table, m); });
    for (int g : {1024, 1056, 2112, 4224, 65536}) measure("read_only 1 word, blocks " + std::to_string(g), B, [=] { rot1<1><<<g, 256>>>(ore, oim, re, im, table, m); });
    for (int g : {528, 1056, 4224}) measure("read_only 2 words, blocks " + std::to_string(g), B, [=] { rot1<2><<<g, 256>>>(ore, oim, re, im, table, m); });
    for (int g : {528, 1056, 4224}) measure("read_only 4 words, blocks " + std::to_string(g), B, [=] { rot1<4><<<g, 256>>>(ore, oim, re, im, table, m); });
    for (int g : {528, 1056, 4224, 16384}) measure("read_only vectors, blocks " + std::to_string(g), B, [=] { rot4<<<g, 256>>>((float4 *)ore, (float4 *)oim, (float4 *)re, (float4 *)im, table, m / 4); });
    const int signals = 532224, length = 41; double C = 8.0 * signals * length;
    measure("block_size step 3", C, [=] { bs3::block_size_step3(b, a, signals, length); });
    measure("block_size solution", C, [=] { bs::block_size_solution(b, a, signals, length); });
#define ECHO(K, N) for (int t : {96, 192, 224}) measure("block_size " N " x" + std::to_string(t), C, [=] { K<<<(signals + t - 1) / t, t, 160 * t>>>(b, a, signals, length); });
    { auto K = echo<4, false, false>; ECHO(K, "4 ahead") }
    { auto K = echo<8, false, false>; ECHO(K, "8 ahead") }
    { auto K = echo<4, true, false>; ECHO(K, "4 ahead, overlapped") }
    { auto K = echo<8, true, false>; ECHO(K, "8 ahead, overlapped") }
    { auto K = echo<14, false, false>; ECHO(K, "14 ahead") }
    { auto K = echo<8, false, true>; ECHO(K, "8 ahead, streaming") }
    measure("copy16 of 87 MB", C, [=] { copyk<<<signals * length / 4 / 256 + 1, 256>>>((float4 *)b, (float4 *)a, signals * length / 4); });
    return 0;
}
