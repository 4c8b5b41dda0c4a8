// micro.cu — single tricks of a memory system and of its units, each a launch: what the time model is fitted on. Figures of a GPU
// are in micro-*.tsv beside this file (see fit.py).
//
//   nvcc -O3 -arch=sm_90 micro.cu -o micro; ./micro [REPEATS] >micro-NAME.tsv      a line a case: name, microseconds
//   simgpu nvcc micro.cu -o micro; simgpu run --time --cold-caches ./micro 0       the same launches once
//
// Each launch waits behind a fill of more than any L2 holds, so that its caches are cold and its queue is held back, as when the
// grader measures.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <vector>

static char *flush_area;
static const size_t FLUSH = 256u << 20;
static int repeats = 7;
static cudaEvent_t start_event, stop_event;

static void check(const char *what) {
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) fprintf(stderr, "micro: %s: %s\n", what, cudaGetErrorString(e)), exit(1);
}

template <class F> static void measure(const std::string &name, F launch) {
    std::vector<float> times;
    if (!repeats) {
        launch();
        check(name.c_str());
        printf("%s\t0\n", name.c_str());
        return;
    }
    for (int i = 0; i <= repeats; i++) {
        float ms = 0;
        cudaMemsetAsync(flush_area, i, FLUSH);
        cudaEventRecord(start_event);
        launch();
        cudaEventRecord(stop_event);
        cudaEventSynchronize(stop_event);
        cudaEventElapsedTime(&ms, start_event, stop_event);
        if (i) times.push_back(ms * 1e3f);
    }
    check(name.c_str());
    std::sort(times.begin(), times.end());
    printf("%s\t%.3f\n", name.c_str(), times[times.size() / 2]);
    fflush(stdout);
}

static std::string named(const char *what, size_t bytes) {
    char text[64];
    if (bytes >= 1u << 20) snprintf(text, sizeof text, "%s-%zuM", what, bytes >> 20);
    else if (bytes >= 1024) snprintf(text, sizeof text, "%s-%zuK", what, bytes >> 10);
    else snprintf(text, sizeof text, "%s-%zu", what, bytes);
    return text;
}

// ---- launches, streams ----

__global__ void nothing() {}

template <class T> __global__ void copy(T *to, const T *from, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
template <class T> __global__ void write(T *to, size_t n, T v) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) to[i] = v;
}
__global__ void read4(float *to, const float4 *from, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = from[i];
    if (v.x + v.y + v.z + v.w == 12345.f) to[i] = v.x;
}
__global__ void read1(float *to, const float *from, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n && from[i] == 12345.f) to[i] = 1;
}
// A fixed grid that walks: so many warps have so much in flight.
template <class T> __global__ void walk(T *to, const T *from, size_t n) {
    size_t step = gridDim.x * (size_t)blockDim.x;
#pragma unroll 1
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) to[i] = from[i];
}

// R arrays are read and W written, by a thread an element, or by a grid that walks.
template <class T, int R, int W> __global__ void several(T *to, const T *from, size_t n) {
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        T v[R];
#pragma unroll
        for (int r = 0; r < R; r++) v[r] = from[r * n + i];
#pragma unroll
        for (int r = 1; r < R; r++) v[0].x += v[r].x, v[0].y += v[r].y;
#pragma unroll
        for (int w = 0; w < W; w++) to[w * n + i] = v[w % R];
    }
}

// ---- parts of sectors, structures, columns ----

__global__ void write_every(float *to, size_t n, int step) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) to[i * step] = 1;
}
__global__ void read_every(float *to, const float *from, size_t n, int step) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n && from[i * step] == 12345.f) to[i] = 1;
}
__global__ void change_every(float *to, size_t n, int step) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) to[i * step] += 1;
}
// All members of a structure of N floats, one after the other.
template <int N> __global__ void structures(float *p, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v[N];
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = p[i * N + k];
#pragma unroll
    for (int k = 0; k < N; k++) p[i * N + k] = v[k] * 1.5f + v[(k + 1) % N];
}
__global__ void column_write(float *to, const float *from, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    to[(size_t)x * n + y] = from[(size_t)y * n + x];
}
__global__ void column_read(float *to, const float *from, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    to[(size_t)y * n + x] = from[(size_t)x * n + y];
}
__device__ unsigned mix(unsigned i) {
    i ^= i >> 16, i *= 0x7feb352du, i ^= i >> 15, i *= 0x846ca68bu;
    return i ^ i >> 16;
}
__global__ void gather(float *to, const float *from, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[mix(i) & mask];
}
__global__ void scatter(float *to, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[mix(i) & mask] = 1;
}

// ---- latencies, caches ----

__global__ void chase(unsigned *p, int steps) {
    unsigned i = 0;
#pragma unroll 1
    for (int k = 0; k < steps; k++) i = p[i];
    if (i == 0xffffffffu) p[0] = i;
}
__global__ void again(float *to, const float4 *from, unsigned n, int rounds) {
    float sum = 0;
    unsigned step = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll 4
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
            float4 v = __ldcg(from + i);
            sum += v.x + v.y + v.z + v.w;
        }
    if (sum == 12345.f) to[0] = sum;
}

// ---- atomics ----

__global__ void red_int(int *p, const int *by, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(p + (mix(i) & mask), by[i & 1023] + 1);
}
__global__ void red_float(float *p, const float *by, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(p + (mix(i) & mask), by[i & 1023] + 1);
}
__global__ void atom_int(int *p, int *out, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && atomicAdd(p + (mix(i) & mask), (int)i) == -12345) out[i] = 1;
}
__global__ void atom_max(int *p, const int *by, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(p + (mix(i) & mask), by[i & 1023] + (int)i);
}
template <class T> __global__ void shared_add(T *out, int rounds, unsigned mask, T by) {
    __shared__ T s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = 0;
    __syncthreads();
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        x = x * 1664525u + 1013904223u;
        atomicAdd(s + ((x >> 10) & mask), by);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ void shared_increment(int *out, int rounds, unsigned mask) {
    __shared__ int s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = 0;
    __syncthreads();
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        x = x * 1664525u + 1013904223u;
        atomicAdd(s + ((x >> 10) & mask), 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// ---- shared and local memory, units ----

template <int WIDTH> __global__ void shared_read(float *out, int rounds, int step) {
    __shared__ float s[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = i;
    __syncthreads();
    float sum = 0;
    int at = (threadIdx.x * step * WIDTH) & 4095;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int j = (at + k * 128) & 4095;
            if (WIDTH == 1) sum += s[j];
            else if (WIDTH == 2) sum += ((float2 *)s)[j / 2].y;
            else sum += ((float4 *)s)[j / 4].w;
        }
        at = (at + 512) & 4095;
    }
    if (sum == 12345.f) out[0] = sum;
}
// How many lanes read the same vector: RUN neighbours each, of at most DISTINCT vectors, out of 16 KiB that lie in L1 or shared memory.
__device__ float total(float v) { return v; }
__device__ float total(float2 v) { return v.x + v.y; }
__device__ float total(float4 v) { return (v.x + v.y) + (v.z + v.w); }
template <class V, bool SHARED> __global__ void alike(float *out, const V *from, int rounds, int run, int distinct, int step) {
    constexpr int N = 16384 / sizeof(V);
    __shared__ V s[SHARED ? N : 1];
    if (SHARED)
        for (int i = threadIdx.x; i < N; i += blockDim.x) s[i] = from[i];
    __syncthreads();
    const V *p = SHARED ? s : from;
    int at = (threadIdx.x % 32 / run % distinct) * step + threadIdx.x / 32 * 32;
    float sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 4; k++) sum += total(p[(at + k * 64) & (N - 1)]);
        at += 32;
    }
    if (sum == 12345.f) out[0] = sum;
}
template <class V> __global__ void shared_write(float *out, int rounds, int step, V v) {
    constexpr int N = 16384 / sizeof(V);
    __shared__ V s[N];
    int at = threadIdx.x * step;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 4; k++) s[(at + k * 64) & (N - 1)] = v;
        at += 32;
    }
    __syncthreads();
    if (total(s[threadIdx.x]) == 12345.f) out[0] = 1;
}
__constant__ float constants[4096];
__global__ void constant_read(float *out, int rounds, int run) {
    float sum = 0;
    int at = threadIdx.x % 32 / run;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 4; k++) sum += constants[(at + k * 32) & 511];
        at += 32;
    }
    if (sum == 12345.f) out[0] = sum;
}
template <int N> __global__ void local(float *out, const int *index, int rounds) {
    float v[N];
    for (int i = 0; i < N; i++) v[i] = threadIdx.x * 0.5f + i;
    unsigned x = index[threadIdx.x & 31];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        v[(x + r) % N] += 1.5f;
        v[(x + 3 * r) % N] *= 0.5f;
    }
    float sum = 0;
    for (int i = 0; i < N; i++) sum += v[i];
    if (sum == 12345.f) out[0] = sum;
}
template <int CHAINS> __global__ void fma_chains(float *out, float a, int rounds) {
    float v[CHAINS];
    for (int i = 0; i < CHAINS; i++) v[i] = threadIdx.x + i;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++) v[i] = fmaf(v[i], a, 0.5f);
    float sum = 0;
    for (int i = 0; i < CHAINS; i++) sum += v[i];
    if (sum == 12345.f) out[0] = sum;
}
__global__ void integers(int *out, int a, int rounds) {
    int x = threadIdx.x, y = x + 1, z = x + 2, w = x + 3;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++) x = (x ^ a) + r, y = (y ^ a) + x, z = (z ^ a) + y, w = (w ^ a) + z;
    if (x + y + z + w == 12345) out[0] = x;
}
__global__ void special(float *out, float a, int rounds) {
    float x = threadIdx.x + 1, y = x + 1;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 4; k++) x = __expf(x * a), y = __sinf(y * a);
    if (x + y == 12345.f) out[0] = x;
}
__global__ void divide(float *out, float a, int rounds) {
    float x = threadIdx.x + 1;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) x = a / x + 1;
    if (x == 12345.f) out[0] = x;
}
__global__ void doubles(double *out, double a, int rounds) {
    double x = threadIdx.x, y = x + 1;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++) x = fma(x, a, 0.5), y = fma(y, a, 0.5);
    if (x + y == 12345.0) out[0] = x;
}
__global__ void barriers(int *out, int rounds) {
#pragma unroll 1
    for (int r = 0; r < rounds; r++) __syncthreads();
    if (rounds < 0) out[0] = 1;
}
__global__ void shuffles(float *out, int rounds) {
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 1; k < 32; k *= 2) x += __shfl_xor_sync(~0u, x, k);
    if (x == 12345.f) out[0] = x;
}

// ---- the cases ----

static char *a, *b;
static int *ints;

static unsigned blocks(size_t n) { return (unsigned)((n + 255) / 256); }

static void launches() {
    const int grids[] = {1, 132, 1056, 8448, 67584}, threads[] = {32, 256, 1024};
    for (int g : grids)
        for (int t : threads)
            measure("empty-" + std::to_string(g) + "x" + std::to_string(t), [=] { nothing<<<g, t>>>(); });
    measure("empty-twice", [=] { nothing<<<1, 32>>>(), nothing<<<1, 32>>>(); });
    measure("empty-4-times", [=] { for (int i = 0; i < 4; i++) nothing<<<1, 32>>>(); });
}

static void streams() {
    for (size_t size = 64 << 10; size <= 512u << 20; size *= 2) {
        size_t n4 = size / 16, n1 = size / 4;
        float4 *to = (float4 *)b, *from = (float4 *)a;
        measure(named("copy16", size), [=] { copy<<<blocks(n4), 256>>>(to, from, n4); });
        measure(named("read16", size), [=] { read4<<<blocks(n4), 256>>>((float *)to, from, n4); });
        measure(named("write16", size), [=] { write<<<blocks(n4), 256>>>(to, n4, make_float4(1, 2, 3, 4)); });
        if (size > 64u << 20 || size < 1u << 20) continue;
        measure(named("copy4", size), [=] { copy<<<blocks(n1), 256>>>((float *)to, (float *)from, n1); });
        measure(named("read4", size), [=] { read1<<<blocks(n1), 256>>>((float *)to, (float *)from, n1); });
        measure(named("write4", size), [=] { write<<<blocks(n1), 256>>>((float *)to, n1, 1.f); });
    }
    const int per_sm[] = {1, 2, 4, 8};
    for (int k : per_sm)
        for (int t = 32; t <= 256; t *= 2) {
            measure("walk4-" + std::to_string(k) + "x" + std::to_string(t), [=] { walk<<<132 * k, t>>>((float *)b, (float *)a, (size_t)(8 << 20) / 4); });
            measure("walk16-" + std::to_string(k) + "x" + std::to_string(t), [=] { walk<<<132 * k, t>>>((float4 *)b, (float4 *)a, (size_t)(32 << 20) / 16); });
        }
}

template <class T, int R, int W> static void several_of(const char *width) {
    const size_t total = 192 << 20, n = total / (R + W) / sizeof(T) / 256 * 256;
    const std::string tail = std::string(width) + "-" + std::to_string(R) + "to" + std::to_string(W);
    measure("walks" + tail, [=] { several<T, R, W><<<1056, 256>>>((T *)b, (T *)a, n); });
    measure("arrays" + tail, [=] { several<T, R, W><<<blocks(n), 256>>>((T *)b, (T *)a, n); });
}
static void arrays() {
    several_of<float2, 1, 1>("8"), several_of<float2, 2, 1>("8"), several_of<float2, 3, 1>("8"), several_of<float2, 2, 2>("8");
    several_of<float2, 5, 1>("8"), several_of<float2, 1, 3>("8"), several_of<float2, 4, 4>("8");
    several_of<float4, 1, 1>("16"), several_of<float4, 2, 1>("16"), several_of<float4, 3, 1>("16"), several_of<float4, 2, 2>("16");
    several_of<float4, 5, 1>("16"), several_of<float4, 1, 3>("16"), several_of<float4, 4, 4>("16");
}

static void parts() {
    const int steps[] = {2, 4, 8, 16, 32};
    for (int step : steps)
        for (size_t n = 1 << 19; n <= 1 << 22; n *= 8) {
            std::string tail = "-every" + std::to_string(step) + (n > 1 << 20 ? "-4M" : "-512K");
            measure("write" + tail, [=] { write_every<<<blocks(n), 256>>>((float *)b, n, step); });
            measure("read" + tail, [=] { read_every<<<blocks(n), 256>>>((float *)b, (float *)a, n, step); });
            measure("change" + tail, [=] { change_every<<<blocks(n), 256>>>((float *)b, n, step); });
        }
    for (size_t n = 1 << 18; n <= 1 << 21; n *= 8) {
        std::string tail = n > 1 << 20 ? "-2M" : "-256K";
        measure("struct3" + tail, [=] { structures<3><<<blocks(n), 256>>>((float *)b, n); });
        measure("struct4" + tail, [=] { structures<4><<<blocks(n), 256>>>((float *)b, n); });
        measure("struct6" + tail, [=] { structures<6><<<blocks(n), 256>>>((float *)b, n); });
        measure("struct8" + tail, [=] { structures<8><<<blocks(n), 256>>>((float *)b, n); });
        measure("struct16" + tail, [=] { structures<16><<<blocks(n), 256>>>((float *)b, n); });
    }
    for (int n = 1024; n <= 4096; n *= 2) {
        dim3 g(n / 32, n / 8), t(32, 8);
        measure("column-write-" + std::to_string(n), [=] { column_write<<<g, t>>>((float *)b, (float *)a, n); });
        measure("column-read-" + std::to_string(n), [=] { column_read<<<g, t>>>((float *)b, (float *)a, n); });
    }
    for (unsigned bits = 18; bits <= 26; bits += 4) {
        unsigned mask = (1u << bits) - 1, n = 4 << 20;
        measure("gather-" + std::to_string(bits), [=] { gather<<<blocks(n), 256>>>((float *)b, (float *)a, n, mask); });
        measure("scatter-" + std::to_string(bits), [=] { scatter<<<blocks(n), 256>>>((float *)b, n, mask); });
    }
}

// A ring that steps over more than a line each time, through all of the bytes.
static void make_ring(size_t bytes) {
    size_t n = bytes / 4, step = 64;
    std::vector<unsigned> ring(n, 0);
    size_t stops = n / step, at = 0;
    for (size_t k = 0; k < stops; k++) {
        size_t next = (at + 7919) % stops;
        ring[at * step] = (unsigned)(next * step);
        at = next;
    }
    cudaMemcpy(a, ring.data(), bytes, cudaMemcpyHostToDevice);
}

static void caches() {
    const size_t sizes[] = {16 << 10, 128 << 10, 4 << 20, 16 << 20, 256 << 20};
    for (size_t size : sizes) {
        if (!repeats && size > 16 << 20) continue; // the simulator's time is known; the ring is large
        make_ring(size);
        measure(named("chase", size), [=] { chase<<<1, 1>>>((unsigned *)a, 4000); });
        measure(named("chase-twice-as-far", size), [=] { chase<<<1, 1>>>((unsigned *)a, 8000); });
    }
    cudaMemset(a, 0, 256 << 20);
    for (size_t size = 1 << 20; size <= 32 << 20; size *= 2)
        for (int rounds = 1; rounds <= 16; rounds *= 4)
            measure(named("again", size) + "x" + std::to_string(rounds), [=] { again<<<264, 512>>>((float *)b, (float4 *)a, (unsigned)(size / 16), rounds); });
}

static void atomics() {
    const unsigned masks[] = {0, 7, 31, 255, 4095, 65535, (1 << 20) - 1, (1 << 24) - 1}, n = 1 << 20;
    for (unsigned m : masks) {
        std::string tail = "-" + std::to_string(m + 1);
        measure("red-int" + tail, [=] { red_int<<<blocks(n), 256>>>((int *)b, ints, n, m); });
        measure("red-float" + tail, [=] { red_float<<<blocks(n), 256>>>((float *)b, (float *)ints, n, m); });
        measure("atom-int" + tail, [=] { atom_int<<<blocks(n), 256>>>((int *)b, (int *)a, n, m); });
        measure("red-max" + tail, [=] { atom_max<<<blocks(n), 256>>>((int *)b, ints, n, m); });
    }
    const unsigned few[] = {0, 1, 3, 7, 31, 255, 1023};
    for (unsigned m : few) {
        std::string tail = "-" + std::to_string(m + 1);
        measure("shared-add-int" + tail, [=] { shared_add<int><<<264, 256>>>((int *)b, 256, m, 3); });
        measure("shared-increment" + tail, [=] { shared_increment<<<264, 256>>>((int *)b, 256, m); });
        measure("shared-add-float" + tail, [=] { shared_add<float><<<264, 256>>>((float *)b, 64, m, 3); });
        measure("shared-add-long" + tail, [=] { shared_add<unsigned long long><<<264, 256>>>((unsigned long long *)b, 64, m, 3); });
    }
}

static void units() {
    const int steps[] = {1, 2, 4, 8, 32};
    for (int s : steps) {
        measure("shared-read4-every" + std::to_string(s), [=] { shared_read<1><<<264, 512>>>((float *)b, 256, s); });
        measure("shared-read8-every" + std::to_string(s), [=] { shared_read<2><<<264, 512>>>((float *)b, 256, s); });
        measure("shared-read16-every" + std::to_string(s), [=] { shared_read<4><<<264, 512>>>((float *)b, 256, s); });
    }
    measure("shared-read4-one-warp", [=] { shared_read<1><<<1, 32>>>((float *)b, 1024, 1); });
    const int t[] = {64, 256};
    for (int threads : t) {
        std::string tail = "-" + std::to_string(threads);
        measure("local16" + tail, [=] { local<16><<<1056, threads>>>((float *)b, ints, 64); });
        measure("local64" + tail, [=] { local<64><<<1056, threads>>>((float *)b, ints, 64); });
        measure("local256" + tail, [=] { local<256><<<1056, threads>>>((float *)b, ints, 64); });
    }
    const int g[] = {1, 132, 528};
    for (int grid : g) {
        std::string tail = "-" + std::to_string(grid);
        measure("fma1" + tail, [=] { fma_chains<1><<<grid, 512>>>((float *)b, 0.5f, 512); });
        measure("fma4" + tail, [=] { fma_chains<4><<<grid, 512>>>((float *)b, 0.5f, 512); });
        measure("fma16" + tail, [=] { fma_chains<16><<<grid, 512>>>((float *)b, 0.5f, 128); });
        measure("integers" + tail, [=] { integers<<<grid, 512>>>((int *)b, 5, 512); });
        measure("special" + tail, [=] { special<<<grid, 512>>>((float *)b, 0.5f, 256); });
        measure("divide" + tail, [=] { divide<<<grid, 512>>>((float *)b, 0.5f, 256); });
        measure("doubles" + tail, [=] { doubles<<<grid, 512>>>((double *)b, 0.5, 256); });
        measure("barriers" + tail, [=] { barriers<<<grid, 512>>>((int *)b, 256); });
        measure("shuffles" + tail, [=] { shuffles<<<grid, 512>>>((float *)b, 256); });
    }
    measure("fma1-one-warp", [=] { fma_chains<1><<<1, 32>>>((float *)b, 0.5f, 1024); });
    measure("shuffles-one-warp", [=] { shuffles<<<1, 32>>>((float *)b, 1024); });
    measure("barriers-one-warp", [=] { barriers<<<1, 32>>>((int *)b, 1024); });
}

template <class V> static void alike_of() {
    const int run[] = {32, 8, 4, 2, 1, 1, 1, 1}, distinct[] = {1, 32, 32, 32, 32, 4, 8, 16};
    const std::string width = std::to_string(sizeof(V));
    for (int i = 0; i < 8; i++) {
        std::string tail = width + "-run" + std::to_string(run[i]) + "-of" + std::to_string(std::min(distinct[i], 32 / run[i]));
        measure("l1-read" + tail, [=] { alike<V, false><<<264, 512>>>((float *)b, (V *)a, 128, run[i], distinct[i], 1); });
        measure("shared-alike" + tail, [=] { alike<V, true><<<264, 512>>>((float *)b, (V *)a, 128, run[i], distinct[i], 1); });
    }
    const int steps[] = {2, 4, 8, 32};
    for (int s : steps) {
        std::string tail = width + "-every" + std::to_string(s);
        measure("l1-read" + tail, [=] { alike<V, false><<<264, 512>>>((float *)b, (V *)a, 128, 1, 32, s); });
        measure("shared-write" + tail, [=] { shared_write<V><<<264, 512>>>((float *)b, 128, s, V{}); });
    }
    measure("shared-write" + width + "-every1", [=] { shared_write<V><<<264, 512>>>((float *)b, 128, 1, V{}); });
}
static void near() {
    alike_of<float>(), alike_of<float2>(), alike_of<float4>();
    const int run[] = {32, 16, 8, 4, 1};
    for (int r : run) measure("constant-run" + std::to_string(r), [=] { constant_read<<<264, 512>>>((float *)b, 128, r); });
}

static void engine() {
    if (!repeats) return; // no kernels: the simulator prints nothing for them
    for (size_t size = 64 << 10; size <= 256u << 20; size *= 4) {
        measure(named("memset", size), [=] { cudaMemsetAsync(b, 0, size); });
        measure(named("memcpy", size), [=] { cudaMemcpyAsync(b, a, size, cudaMemcpyDeviceToDevice); });
    }
}

int main(int argc, char **argv) {
    if (argc > 1) repeats = atoi(argv[1]);
    cudaMalloc(&a, 512u << 20), cudaMalloc(&b, 512u << 20), cudaMalloc(&ints, 4096);
    if (repeats) cudaMalloc(&flush_area, FLUSH);
    cudaMemset(a, 0, 512u << 20), cudaMemset(b, 0, 512u << 20), cudaMemset(ints, 0, 4096);
    cudaEventCreate(&start_event), cudaEventCreate(&stop_event);
    check("opening");
    launches(), streams(), parts(), caches(), atomics(), units(), near(), arrays(), engine();
    return 0;
}
