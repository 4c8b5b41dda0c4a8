// pieces.cu — launches that each show one term which micro.cu and terms.cu do not: taken branches, chains of shuffles and of
// loads by level, products whose operands compete for register banks, short blocks that end in an atomic, neighbours that
// are loaded late, conflicted shared accesses beside global ones, polls beside a stream, the first accesses of a launch.
// pieces-*.tsv has GPUs' figures.
//
//   nvcc -O3 -arch=sm_90 pieces.cu -o pieces; ./pieces [REPEATS] >pieces-NAME.tsv      a line a case: name, microseconds
//   simgpu nvcc pieces.cu -o pieces; simgpu run --time --cold-caches ./pieces 0       the same launches once
//
// Caches are cold, as in micro.cu.
#include "cold.cuh"
#include <cuda_runtime.h>
#include <string>

static char *a, *b; // 256 MiB of zeros each
static const size_t BYTES = 256u << 20;
static int repeats = 7;
static const char *only = "";

template <class F> static void measure(const std::string &name, F launch) {
    float us = 0;
    if (name.find(only) == std::string::npos) return;
    if (!repeats) launch();
    else us = cold_median(launch, repeats);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) fprintf(stderr, "pieces: %s: %s\n", name.c_str(), cudaGetErrorString(e)), exit(1);
    printf("%s\t%.3f\n", name.c_str(), us);
    fflush(stdout);
}
static std::string number(long n) { return "-" + std::to_string(n); }

// ---- taken branches: N multiplications one after the other, and the branch back ----

template <int N> __global__ void loop(float *out, int rounds, float by) {
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < N; i++) x = fmaf(x, by, 0.5f);
    if (x == 12345.f) out[0] = x;
}
// A branch over a body too long for predicates: no lane takes it, all do, or half of each warp.
template <int MODE> __global__ void skip(float *out, int rounds, float by) {
    float x = threadIdx.x, y = x;
    bool enters = MODE == 0 ? by > 2 : MODE == 1 ? by < 2 : (threadIdx.x & 1);
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        x = fmaf(x, by, 0.5f);
        if (enters) {
#pragma unroll
            for (int i = 0; i < 24; i++) y = fmaf(y, by, x);
        }
        x = fmaf(x, by, y);
    }
    if (x == 12345.f) out[0] = x;
}
static void branches() {
    const int threads[] = {32, 128, 256, 512, 1024};
    for (int t : threads) {
        measure("loop-1" + number(t), [=] { loop<1><<<132, t>>>((float *)b, 2048, 0.5f); });
        measure("loop-2" + number(t), [=] { loop<2><<<132, t>>>((float *)b, 2048, 0.5f); });
        measure("loop-4" + number(t), [=] { loop<4><<<132, t>>>((float *)b, 2048, 0.5f); });
        measure("loop-8" + number(t), [=] { loop<8><<<132, t>>>((float *)b, 1024, 0.5f); });
        measure("loop-16" + number(t), [=] { loop<16><<<132, t>>>((float *)b, 1024, 0.5f); });
        measure("loop-64" + number(t), [=] { loop<64><<<132, t>>>((float *)b, 256, 0.5f); });
        measure("skip-all" + number(t), [=] { skip<0><<<132, t>>>((float *)b, 1024, 0.5f); });
        measure("skip-none" + number(t), [=] { skip<1><<<132, t>>>((float *)b, 1024, 0.5f); });
        measure("skip-half" + number(t), [=] { skip<2><<<132, t>>>((float *)b, 1024, 0.5f); });
    }
}

// ---- chains ----

__global__ void shuffle_chain(int *out, int rounds) {
    int x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 16; i++) x = __shfl_sync(~0u, x, x);
    if (x == 12345) out[0] = x;
}
__global__ void vote_chain(int *out, int rounds) {
    unsigned x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 16; i++) x = __ballot_sync(~0u, x > threadIdx.x);
    if (x == 12345) out[0] = x;
}
__global__ void match_chain(int *out, int rounds) {
    unsigned x = threadIdx.x / 8;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 4; i++) x = __match_any_sync(~0u, x);
    if (x == 12345) out[0] = x;
}
__global__ void shared_chain(int *out, int rounds) {
    __shared__ int s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    int x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 16; i++) x = s[x];
    if (x == 12345) out[0] = x;
}
// LEVEL 1: L1, 2: L2. The words are zero.
template <int LEVEL> __global__ void load_chain(int *out, const int *from, int rounds) {
    int x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 16; i++) x = LEVEL == 1 ? from[x] : __ldcg(from + x);
    if (x == 12345) out[0] = x;
}
static void chains() {
    const int threads[] = {32, 512};
    for (int t : threads) {
        measure("shuffle-chain" + number(t), [=] { shuffle_chain<<<132, t>>>((int *)b, 64); });
        measure("vote-chain" + number(t), [=] { vote_chain<<<132, t>>>((int *)b, 64); });
        measure("match-chain" + number(t), [=] { match_chain<<<132, t>>>((int *)b, 64); });
        measure("shared-chain" + number(t), [=] { shared_chain<<<132, t>>>((int *)b, 64); });
        measure("l1-chain" + number(t), [=] { load_chain<1><<<132, t>>>((int *)b, (int *)a, 64); });
        measure("l2-chain" + number(t), [=] { load_chain<2><<<132, t>>>((int *)b, (int *)a, 64); });
    }
}

// ---- outer products in registers: N x N accumulators, operands from shared memory ----

template <int N> __global__ void __launch_bounds__(256) outer(float *out, int rounds) {
    __shared__ float s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    float c[N][N] = {};
    int at = threadIdx.x / 16 * 8, bt = 512 + threadIdx.x % 16 * 4;
#pragma unroll 2
    for (int r = 0; r < rounds; r++) {
        float x[N], y[N];
#pragma unroll
        for (int i = 0; i < N; i += 4) {
            float4 v = *(float4 *)&s[at + i], w = *(float4 *)&s[bt + i * 16];
            x[i] = v.x, x[i + 1] = v.y, x[i + 2] = v.z, x[i + 3] = v.w, y[i] = w.x, y[i + 1] = w.y, y[i + 2] = w.z, y[i + 3] = w.w;
        }
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int j = 0; j < N; j++) c[i][j] = fmaf(x[i], y[j], c[i][j]);
        at = (at + 128) % 512;
    }
    float sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += c[i][j];
    if (sum == 12345.f) out[0] = sum;
}
static void products() {
    measure("outer-4x1", [=] { outer<4><<<132, 256>>>((float *)b, 2048); });
    measure("outer-4x4", [=] { outer<4><<<528, 256>>>((float *)b, 2048); });
    measure("outer-8x1", [=] { outer<8><<<132, 256>>>((float *)b, 1024); });
    measure("outer-8x2", [=] { outer<8><<<264, 256>>>((float *)b, 1024); });
}

// ---- short blocks ----

// LOAD: words from memory first; BARRIERS; END 0: nothing, 1: a store, 2: an addition to one word, 3: to a word of its own
template <bool LOAD, int BARRIERS, int END> __global__ void brief(int *out, const int *from) {
    __shared__ int s;
    int v = LOAD ? from[blockIdx.x * blockDim.x + threadIdx.x] : 1;
    if (BARRIERS) {
        if (threadIdx.x == 0) s = 0;
        __syncthreads();
        if (v != 0) atomicOr(&s, v);
        __syncthreads();
        v = s;
    }
    if (threadIdx.x == 0) {
        if (END == 1) out[blockIdx.x] = v;
        if (END == 2) atomicAdd(out, v);
        if (END == 3) atomicAdd(out + blockIdx.x, v);
    }
    if (END == 0 && v == 12345) out[0] = v;
}
static void briefs() {
    const int n = 262144;
    measure("brief-bare-store", [=] { brief<false, 0, 1><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-bare-one", [=] { brief<false, 0, 2><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-bare-own", [=] { brief<false, 0, 3><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-barriers-nothing", [=] { brief<false, 1, 0><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-barriers-store", [=] { brief<false, 1, 1><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-barriers-one", [=] { brief<false, 1, 2><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-load-nothing", [=] { brief<true, 0, 0><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-load-store", [=] { brief<true, 0, 1><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-load-one", [=] { brief<true, 0, 2><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-load-barriers-nothing", [=] { brief<true, 1, 0><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-load-barriers-store", [=] { brief<true, 1, 1><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-load-barriers-one", [=] { brief<true, 1, 2><<<n, 256>>>((int *)b, (int *)a); });
    measure("brief-load-barriers-own", [=] { brief<true, 1, 3><<<n, 256>>>((int *)b, (int *)a); });
}

// ---- a neighbour's word, loaded when the own one has arrived ----

// EDGE 0: no neighbour, 1: at the block's edges only, 2: at each warp's edges
template <int EDGE> __global__ void late(int *out, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int v = from[i], left = __shfl_up_sync(~0u, v, 1), right = __shfl_down_sync(~0u, v, 1);
    bool first = EDGE == 1 ? t == 0 : EDGE == 2 && t % 32 == 0, last = EDGE == 1 ? t == blockDim.x - 1 : EDGE == 2 && t % 32 == 31;
    if (first && i > 0) left = from[i - 1 + (v & 1)];
    if (last && i + 1 < n) right = from[i + 1 - (v & 1)];
    out[i] = left + v + right;
}
static void lates() {
    const int n = 16 << 20;
    const int threads[] = {128, 256, 1024};
    for (int t : threads) {
        measure("late-none" + number(t), [=] { late<0><<<n / t, t>>>((int *)b, (int *)a, n); });
        measure("late-block" + number(t), [=] { late<1><<<n / t, t>>>((int *)b, (int *)a, n); });
        measure("late-warp" + number(t), [=] { late<2><<<n / t, t>>>((int *)b, (int *)a, n); });
    }
}

// ---- shared accesses with C-way conflicts beside global ones that L2 has ----

// GLOBAL 0: none, 1: a load, 2: a store, 3: both
template <int GLOBAL> __global__ void __launch_bounds__(256) beside(int *out, const int *from, int rounds, int stride) {
    __shared__ int s[8192 + 256];
    for (int i = threadIdx.x; i < 8192 + 256; i += blockDim.x) s[i] = 0;
    __syncthreads();
    int at = (threadIdx.x % 32 * stride + threadIdx.x / 32) % 8192, sum = 0, v[4] = {};
    const int *p = from + blockIdx.x * 2048 + threadIdx.x;
    int *q = out + blockIdx.x * 2048 + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (GLOBAL & 1) v[k] = __ldcg(p + (r & 1) * 1024 + k * 256);
            if (GLOBAL & 2) q[(r & 1) * 1024 + k * 256] = sum + k;
            s[at + k * 8] = sum;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) sum += v[k];
    }
    if (sum == 12345) out[0] = sum;
}
static void mixed() {
    const int strides[] = {1, 4, 8, 16, 32};
    for (int s : strides) {
        measure("beside-none" + number(s), [=] { beside<0><<<528, 256>>>((int *)b, (int *)a, 128, s); });
        measure("beside-load" + number(s), [=] { beside<1><<<528, 256>>>((int *)b, (int *)a, 128, s); });
        measure("beside-store" + number(s), [=] { beside<2><<<528, 256>>>((int *)b, (int *)a, 128, s); });
        measure("beside-both" + number(s), [=] { beside<3><<<528, 256>>>((int *)b, (int *)a, 128, s); });
    }
}

// ---- polls beside a stream: one warp of each block polls a word while the others copy ----

__global__ void __launch_bounds__(288) polled(float4 *to, const float4 *from, volatile int *flags, int n, int polls) {
    if (threadIdx.x >= 256) {
        int sum = 0;
        for (int i = 0; i < polls; i++) sum += flags[blockIdx.x * 32 + threadIdx.x % 32];
        if (sum == 12345) to[0].x = 1;
        return;
    }
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) to[i] = from[i];
}
static void polls() {
    const int count[] = {0, 4, 16, 32, 64};
    for (int c : count) {
        measure("polled-few" + number(c), [=] { polled<<<924, 288>>>((float4 *)b, (float4 *)a, (int *)(b + (128 << 20)), 64 << 16, c); });
        measure("polled-many" + number(c), [=] { polled<<<16384, 288>>>((float4 *)b, (float4 *)a, (int *)(b + (128 << 20)), 64 << 16, c / 4); });
    }
}

// ---- the first accesses of a launch ----

__global__ void first_store(int *out, int n) {
    if ((int)threadIdx.x < n) out[blockIdx.x * blockDim.x + threadIdx.x] = n;
}
__global__ void first_load(int *out, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = from[i];
    if (v == 12345 + n) out[0] = v;
}
__global__ void second_load(int *out, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = from[i], w = from[v + i + (1 << 20)];
    if (w == 12345 + n) out[0] = v;
}
static void firsts() {
    const int blocks[] = {1, 132, 1056};
    for (int n : blocks) {
        measure("first-nothing" + number(n), [=] { first_store<<<n, 256>>>((int *)b, 0); });
        measure("first-store" + number(n), [=] { first_store<<<n, 256>>>((int *)b, 1024); });
        measure("first-load" + number(n), [=] { first_load<<<n, 256>>>((int *)b, (int *)a, 0); });
        measure("second-load" + number(n), [=] { second_load<<<n, 256>>>((int *)b, (int *)a, 0); });
    }
}

int main(int argc, char **argv) {
    if (argc > 1) repeats = atoi(argv[1]);
    if (argc > 2) only = argv[2];
    if (cudaMalloc(&a, BYTES) || cudaMalloc(&b, BYTES)) return fprintf(stderr, "pieces: no memory\n"), 1;
    cudaMemset(a, 0, BYTES), cudaMemset(b, 0, BYTES);
    branches(), chains(), products(), briefs(), lates(), mixed(), polls(), firsts();
    return 0;
}
