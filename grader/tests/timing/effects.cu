// effects.cu — launches that each show one effect which micro.cu, terms.cu, waiting.cu and control.cu do not: loops of
// compare-and-swap by many blocks, one lane's loads from constant memory, threads that each write a stretch of their own,
// comparisons with selections, loops larger than an instruction cache, conditions that are uniform.
// effects-*.tsv has a GPU's figures.
//
//   nvcc -O3 -arch=sm_90 effects.cu -o effects; ./effects [REPEATS [PART]] >effects-NAME.tsv   a line a case: name, microseconds
//   simgpu nvcc effects.cu -o effects; simgpu run --time --cold-caches ./effects 0             the same launches once
//
// Each launch waits behind a fill of more than any L2 holds (cold.cuh). PART: only cases whose names contain it.
#include "cold.cuh"
#include <cuda_runtime.h>
#include <string>

static int repeats = 5;
static const char *only = "";
static char *a, *b; // 256 MiB of zeros each
static const size_t BYTES = 256u << 20;

template <class F> static void measure(const std::string &name, F launch) {
    float us = 0;
    if (name.find(only) == std::string::npos) return;
    if (!repeats) launch();
    else us = cold_median(launch, repeats);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) fprintf(stderr, "effects: %s: %s\n", name.c_str(), cudaGetErrorString(e)), exit(1);
    printf("%s\t%.3f\n", name.c_str(), us);
    fflush(stdout);
}
static std::string number(long n) { return "-" + std::to_string(n); }

// ---- loops of compare-and-swap ----

// One thread of each block swaps `times` times, on one word of `words` that lie `apart` elements from each other.
template <class T> __global__ void swaps(T *word, int times, int words, int apart) {
    T *p = word + blockIdx.x % words * apart, old = 0, seen;
    if (threadIdx.x) return;
    for (int i = 0; i < times; i++)
        while ((seen = atomicCAS(p, old, old + 1)) != old) old = seen;
}
// All lanes of a warp swap one word.
__global__ void lane_swaps(unsigned *p, int times) {
    unsigned old = 0, seen;
    for (int i = 0; i < times; i++)
        while ((seen = atomicCAS(p, old, old + 1)) != old) old = seen;
}
static void all_swaps() {
    for (int blocks : {1, 8, 33, 132, 264, 528, 1056}) {
        measure("swap4" + number(blocks), [=] { swaps<unsigned><<<blocks, 32>>>((unsigned *)b, 4, 1, 1); });
        measure("swap8" + number(blocks), [=] { swaps<unsigned long long><<<blocks, 32>>>((unsigned long long *)b, 4, 1, 1); });
        measure("swap4-of16" + number(blocks), [=] { swaps<unsigned><<<blocks, 32>>>((unsigned *)b, 4, 16, 1024); });
    }
    for (int blocks : {1, 8, 33}) measure("swap4-lanes" + number(blocks), [=] { lane_swaps<<<blocks, 32>>>((unsigned *)b, 1); });
}

// ---- constant memory, one lane at a time ----

__constant__ unsigned table[256];
__global__ void lanes_in_turn(unsigned *out, int rounds) {
    unsigned x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        unsigned mine = 0;
#pragma unroll
        for (int l = 0; l < 32; l++)
            if (threadIdx.x % 32 == l) mine = table[x & 255];
        x = mine ^ (x + r);
    }
    if (x == 12345u) out[0] = x;
}

// ---- stretches ----

// Each thread writes (or reads) `each` words one after another, threads `stride` words apart.
template <bool STORE> __global__ void stretch(unsigned *at, int each, size_t stride) {
    size_t first = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * stride;
    unsigned sum = 0;
#pragma unroll 1
    for (int i = 0; i < each; i++)
        if (STORE) at[first + i] = i;
        else sum += at[first + i];
    if (sum == 12345u) at[0] = sum;
}
static void stretches() {
    for (int blocks : {132, 264, 528, 1056})
        for (int each : {8, 32, 64}) {
            measure("stretch-store" + number(each) + number(blocks), [=] { stretch<true><<<blocks, 512>>>((unsigned *)b, each, each); });
            measure("stretch-load" + number(each) + number(blocks), [=] { stretch<false><<<blocks, 512>>>((unsigned *)b, each, each); });
        }
}

// ---- comparisons ----

enum { C_LESS, C_ARGMIN, C_MIN, C_FMA_ARGMIN };
// N independent ones a round: a comparison that selects a float; that and an index; a minimum; four multiply-adds before it.
template <int MODE, int N> __global__ void compares(float *out, const float *by, int rounds) {
    float least[N], v[4];
    int at[N];
    for (int i = 0; i < N; i++) least[i] = threadIdx.x + i, at[i] = 0;
    for (int i = 0; i < 4; i++) v[i] = by[i] + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            float x = MODE == C_FMA_ARGMIN ? fmaf(v[0], v[1], fmaf(v[1], v[2], fmaf(v[2], v[3], fmaf(v[3], v[0], (float)i)))) : v[i & 3];
            if (MODE == C_MIN) least[i] = fminf(least[i], x);
            else if (x < least[i]) {
                least[i] = x;
                if (MODE != C_LESS) at[i] = r;
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = v[i] * 0.5f + 1;
    }
    for (int i = 0; i < N; i++)
        if (least[i] + at[i] == 12345.f) out[0] = i;
}
static void comparisons() {
    for (int threads : {32, 128, 256, 512, 1024}) {
        measure("compare-less" + number(threads), [=] { compares<C_LESS, 16><<<132, threads>>>((float *)b, (float *)a, 256); });
        measure("compare-argmin" + number(threads), [=] { compares<C_ARGMIN, 16><<<132, threads>>>((float *)b, (float *)a, 256); });
        measure("compare-min" + number(threads), [=] { compares<C_MIN, 16><<<132, threads>>>((float *)b, (float *)a, 256); });
        measure("compare-fma-argmin" + number(threads), [=] { compares<C_FMA_ARGMIN, 16><<<132, threads>>>((float *)b, (float *)a, 256); });
    }
}

// ---- large loops ----

// A loop of N multiply-adds in four chains: 16 bytes of code each.
template <int N> __global__ void code(float *out, int rounds, float by) {
    float x[4] = {1, 2, 3, (float)threadIdx.x};
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < N / 4; i++)
#pragma unroll
            for (int k = 0; k < 4; k++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[k]) : "f"(by));
    if (x[0] + x[1] + x[2] + x[3] == 12345.f) out[0] = x[0];
}
template <int N> static void code_of() {
    for (int threads : {32, 128, 512})
        measure("code" + number(N) + number(threads), [=] { code<N><<<132, threads>>>((float *)b, 65536 / N, 0.5f); });
}

// ---- uniform conditions ----

// Eight parts a round, each behind a condition on the round and a parameter, as the steps of a sliding window are.
template <bool BRANCH> __global__ void conditions(float *out, int rounds, int low, int high, float by) {
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (!BRANCH || (r - k >= low && r - k < high && k < high)) {
#pragma unroll
                for (int i = 0; i < 12; i++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(by));
            }
    if (x == 12345.f) out[0] = x;
}
static void all_conditions() {
    for (int threads : {32, 128, 512, 1024}) {
        measure("condition-none" + number(threads), [=] { conditions<false><<<132, threads>>>((float *)b, 256, -8, 1 << 20, 0.5f); });
        measure("condition-true" + number(threads), [=] { conditions<true><<<132, threads>>>((float *)b, 256, -8, 1 << 20, 0.5f); });
        measure("condition-false" + number(threads), [=] { conditions<true><<<132, threads>>>((float *)b, 256, 1 << 20, 1 << 21, 0.5f); });
    }
}

int main(int argc, char **argv) {
    if (argc > 1) repeats = atoi(argv[1]);
    if (argc > 2) only = argv[2];
    if (cudaMalloc(&a, BYTES) || cudaMalloc(&b, BYTES)) return fprintf(stderr, "effects: no memory\n"), 1;
    cudaMemset(a, 0, BYTES), cudaMemset(b, 0, BYTES);
    all_swaps();
    for (int threads : {32, 128, 1024}) measure("constant-in-turn" + number(threads), [=] { lanes_in_turn<<<132, threads>>>((unsigned *)b, 64); });
    stretches(), comparisons();
    code_of<256>(), code_of<512>(), code_of<1024>(), code_of<2048>(), code_of<4096>(), code_of<8192>();
    all_conditions();
    return 0;
}
