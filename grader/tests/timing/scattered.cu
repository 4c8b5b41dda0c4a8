// scattered.cu — launches whose warps store words in many sectors, and load in between: a thread's own word again and again, stretches that
// are copied, groups of neighbouring words. scattered-*.tsv has a GPU's figures.
//
//   nvcc -O3 -arch=sm_90 scattered.cu -o scattered; ./scattered [REPEATS [PART]] >scattered-NAME.tsv   a line a case: name, microseconds
//   simgpu nvcc scattered.cu -o scattered; simgpu run --time --cold-caches ./scattered 0               the same launches once
//
// Each launch waits behind a fill of more than any L2 holds (cold.cuh). PART: only cases whose names contain it.
#include "cold.cuh"
#include <cuda_runtime.h>
#include <string>

static int repeats = 5;
static const char *only = "";
static unsigned *a, *b; // 256 MiB of zeros each
static const size_t BYTES = 256u << 20;

template <class F> static void measure(const std::string &name, F launch) {
    float us = 0;
    if (name.find(only) == std::string::npos) return;
    if (!repeats) launch();
    else us = cold_median(launch, repeats);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) fprintf(stderr, "scattered: %s: %s\n", name.c_str(), cudaGetErrorString(e)), exit(1);
    printf("%s\t%.3f\n", name.c_str(), us);
    fflush(stdout);
}
static std::string number(long n) { return "-" + std::to_string(n); }

enum { STORE, LOAD, CHANGE };

// Each thread stores, loads or changes its own word 32 times; the words of neighbouring threads are `apart` words from each other.
template <int MODE> __global__ void own(volatile unsigned *at, int apart) {
    volatile unsigned *p = at + (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * apart;
    unsigned sum = 0;
#pragma unroll 1
    for (int i = 0; i < 32; i++) {
        if (MODE == STORE) *p = i;
        else if (MODE == LOAD) sum += *p;
        else *p = *p + i;
    }
    if (sum == 12345u) *p = 0;
}
template <int MODE> static void own_words(const char *name) {
    for (int apart : {1, 8, 32, 128})
        for (int blocks : {132, 264, 1056})
            measure(name + number(apart) + number(blocks), [=] { own<MODE><<<blocks, 256>>>(b, apart); });
}

// Each thread copies `each` words, one after another; its stretch follows that of the thread before it.
__global__ void copy_stretch(unsigned *out, const unsigned *in, int each) {
    size_t first = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * each;
#pragma unroll 1
    for (int i = 0; i < each; i++) out[first + i] = in[first + i] * 3;
}
static void stretches() {
    for (int each : {16, 32, 64, 128})
        for (int blocks : {66, 132, 264, 396, 528, 1056})
            if (each * blocks * 512ull * 4 <= BYTES)
                measure("copy-stretch" + number(each) + number(blocks), [=] { copy_stretch<<<blocks, 512>>>(b, a, each); });
}

// Each thread stores EACH neighbouring words, one at a time; in[] is read by neighbouring lanes, or not at all.
template <int EACH, bool READS> __global__ void groups(unsigned *out, const unsigned *in, unsigned n) {
    unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * EACH, x = i;
    for (int e = 0; e < EACH; e++) {
        if (READS) x = __ldg(in + (i + e) / 9);
        if (i + e < n) out[i + e] = x + e;
    }
}
template <int EACH> static void group() {
    for (unsigned n : {1u << 20, 1u << 22, 1u << 24}) {
        measure("groups" + number(EACH) + number(n), [=] { groups<EACH, false><<<n / EACH / 256, 256>>>(b, a, n); });
        measure("groups-read" + number(EACH) + number(n), [=] { groups<EACH, true><<<n / EACH / 256, 256>>>(b, a, n); });
    }
}

int main(int argc, char **argv) {
    if (argc > 1) repeats = atoi(argv[1]);
    if (argc > 2) only = argv[2];
    if (cudaMalloc(&a, BYTES) || cudaMalloc(&b, BYTES)) return fprintf(stderr, "scattered: no memory\n"), 1;
    cudaMemset(a, 0, BYTES), cudaMemset(b, 0, BYTES);
    own_words<STORE>("own-store"), own_words<LOAD>("own-load"), own_words<CHANGE>("own-change");
    stretches();
    group<1>(), group<2>(), group<4>(), group<8>(), group<16>();
    return 0;
}
