// waiting.cu — blocks that wait for each other, and atomics that meet: barriers and locks by hand, chains of flags, loops of
// compare-and-swap, lanes on one word, shared atomics of few lanes, arrays in local memory. waiting-*.tsv has a GPU's figures.
//
//   nvcc -O3 -arch=sm_90 waiting.cu -o waiting; ./waiting [REPEATS] >waiting-NAME.tsv     a line a case: name, microseconds
//   simgpu nvcc waiting.cu -o waiting; simgpu run --time --cold-caches ./waiting 0        the same launches once
//
// Each launch waits behind a fill of more than any L2 holds (cold.cuh). All blocks of barriers and locks are resident at once.
#include "cold.cuh"
#include <cstring>
#include <cuda_runtime.h>
#include <string>

static int repeats = 5;
static unsigned *words; // 64 MiB of zeros between launches
static const size_t WORDS = 16u << 20;

template <class F> static void measure(const std::string &name, F launch) {
    float us = 0;
    if (!repeats) launch();
    else us = cold_median(launch, repeats);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) fprintf(stderr, "waiting: %s: %s\n", name.c_str(), cudaGetErrorString(e)), exit(1);
    printf("%s\t%.3f\n", name.c_str(), us);
    fflush(stdout);
}

// ---- how a block polls ----

enum poll { BY_ATOMIC, BY_VOLATILE, BY_ACQUIRE, WITH_SLEEP };
static const char *const poll_names[] = {"atomic", "volatile", "acquire", "sleep"};

template <int POLL> __device__ unsigned look(unsigned *p) {
    unsigned v;
    if (POLL == BY_ATOMIC) return atomicAdd(p, 0);
    if (POLL == BY_VOLATILE) return *(volatile unsigned *)p;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    if (POLL == WITH_SLEEP) __nanosleep(100);
    return v;
}

// ---- barriers of the whole grid: arrivals are counted in p[0], which only grows ----

template <int POLL> __global__ void barriers(unsigned *p, unsigned *start, int rounds) {
    __shared__ unsigned first;
    if (threadIdx.x == 0) first = *start; // a multiple of the grid, the same for all blocks
    for (int r = 1; r <= rounds; r++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(p, 1);
            while (look<POLL>(p) - first < (unsigned)r * gridDim.x) {}
            __threadfence();
        }
        __syncthreads();
    }
}
__global__ void remember(unsigned *p, unsigned *start) { *start = *p; }

// ---- locks: each block enters once, after work of `spread` clocks times its number modulo 8 ----

__device__ void protected_work(unsigned *p) { *(volatile unsigned *)(p + 64) = *(volatile unsigned *)(p + 64) + 1; }

__global__ void lock_spin(unsigned *p) {
    if (threadIdx.x) return;
    while (atomicCAS(p, 0, 1) != 0) {}
    __threadfence();
    protected_work(p);
    __threadfence();
    atomicExch(p, 0);
}
__global__ void lock_look_first(unsigned *p) {
    if (threadIdx.x) return;
    do while (*(volatile unsigned *)p) {}
    while (atomicCAS(p, 0, 1) != 0);
    __threadfence();
    protected_work(p);
    __threadfence();
    atomicExch(p, 0);
}
__global__ void lock_sleep(unsigned *p) {
    if (threadIdx.x) return;
    for (unsigned ns = 32; atomicCAS(p, 0, 1) != 0; ns = min(ns * 2, 1024u)) __nanosleep(ns);
    __threadfence();
    protected_work(p);
    __threadfence();
    atomicExch(p, 0);
}
__global__ void lock_ticket(unsigned *p) {
    if (threadIdx.x) return;
    unsigned mine = atomicAdd(p + 1, 1);
    while (*(volatile unsigned *)(p + 2) != mine) {}
    __threadfence();
    protected_work(p);
    __threadfence();
    *(volatile unsigned *)(p + 2) = mine + 1;
}

// ---- chains: block i waits for block i - 1 ----

template <int POLL> __global__ void chain(unsigned *flags) {
    if (threadIdx.x) return;
    unsigned *mine = flags + 32 * blockIdx.x;
    if (blockIdx.x) while (!look<POLL>(mine - 32)) {}
    __threadfence();
    if (POLL == BY_ATOMIC) atomicExch(mine, 1);
    else *(volatile unsigned *)mine = 1;
}

// ---- atomics: `lanes` lanes of a warp share a word; warps' words lie `stride` words apart ----

template <class T, bool RETURNS> __global__ void shared_words(T *p, T by, unsigned lanes_log2, unsigned stride, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, word = ((i >> lanes_log2) * stride) & mask;
    if (!RETURNS) atomicAdd(p + word, by);
    else if (atomicAdd(p + word, by) == (T)-12345) p[0] = 0;
}
// The largest value by compare-and-swap, as people write it for floats.
__global__ void swap_loop(int *p, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = (int)(i * 2654435761u >> 8), *word = p + ((i * 2246822519u >> 7) & mask);
    int old = *(volatile int *)word;
    while (old < v) {
        int seen = atomicCAS(word, old, v);
        if (seen == old) break;
        old = seen;
    }
}

// ---- shared atomics of some lanes, chosen anew each round ----

template <class T> __global__ void some_lanes(T *out, int rounds, unsigned of_32, unsigned mask) {
    __shared__ T s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = 0;
    __syncthreads();
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        x = x * 1664525u + 1013904223u;
        if ((x >> 20 & 31) < of_32) atomicAdd(s + ((x >> 10) & mask), (T)(r + 1));
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// ---- arrays in local memory ----

template <int N> __global__ void local_array(float *out, const int *index, int rounds) {
    float a[N], sum = 0;
    for (int k = 0; k < N; k++) a[k] = (float)k;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        int k = index[r & 1023] & (N - 1);
        a[k] += 1.5f;
        sum += a[N - 1 - k];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- the cases ----

static void clear() { cudaMemset(words, 0, WORDS * 4); }

template <int POLL> static void barrier_cases() {
    for (int blocks : {2, 33, 132, 264, 528, 1056})
        for (int rounds : {1, 16}) {
            clear();
            // One launch remembers the count, so that the barrier can be used again.
            measure(std::string("barrier-") + poll_names[POLL] + "-" + std::to_string(blocks) + "x" + std::to_string(rounds), [=] {
                remember<<<1, 1>>>(words, words + 128);
                barriers<POLL><<<blocks, 128>>>(words, words + 128, rounds);
            });
        }
}

static void lock_cases() {
    for (int blocks : {1, 8, 33, 132, 528, 1056}) {
        std::string tail = "-" + std::to_string(blocks);
        clear();
        measure("lock-spin" + tail, [=] { lock_spin<<<blocks, 64>>>(words); });
        measure("lock-look" + tail, [=] { lock_look_first<<<blocks, 64>>>(words); });
        measure("lock-sleep" + tail, [=] { lock_sleep<<<blocks, 64>>>(words); });
        measure("lock-ticket" + tail, [=] { cudaMemsetAsync(words, 0, 64), lock_ticket<<<blocks, 64>>>(words); });
    }
}

template <int POLL> static void chain_cases() {
    for (int blocks : {33, 132, 528, 1056, 4096})
        measure(std::string("chain-") + poll_names[POLL] + "-" + std::to_string(blocks),
                [=] { cudaMemsetAsync(words, 0, blocks * 128), chain<POLL><<<blocks, 64>>>(words); });
}

template <class T> static void word_cases(const char *type) {
    for (unsigned log2 : {0u, 2u, 3u, 5u})
        for (unsigned stride : {1u, 8u, 32u, 1024u}) {
            const unsigned n = 1u << 22, mask = (unsigned)(WORDS * 4 / sizeof(T)) - 1;
            std::string tail = std::string(type) + "-lanes" + std::to_string(1u << log2) + "-every" + std::to_string(stride);
            measure("red-" + tail, [=] { shared_words<T, false><<<n / 256, 256>>>((T *)words, 1, log2, stride, mask); });
            measure("atom-" + tail, [=] { shared_words<T, true><<<n / 256, 256>>>((T *)words, 1, log2, stride, mask); });
        }
}

static void swap_cases() {
    for (unsigned mask : {0u, 31u, 1023u, 65535u, (1u << 20) - 1})
        measure("swap-" + std::to_string(mask + 1), [=] { cudaMemsetAsync(words, 0, (size_t)(mask + 1) * 4), swap_loop<<<1024, 256>>>((int *)words, mask); });
}

static void shared_cases() {
    for (unsigned lanes : {1u, 4u, 8u, 16u, 32u})
        for (unsigned mask : {0u, 7u, 255u}) {
            std::string tail = "-lanes" + std::to_string(lanes) + "-of" + std::to_string(mask + 1);
            measure("shared-int" + tail, [=] { some_lanes<int><<<264, 256>>>((int *)words, 256, lanes, mask); });
            measure("shared-float" + tail, [=] { some_lanes<float><<<264, 256>>>((float *)words, 256, lanes, mask); });
        }
}

template <int N> static void local_cases() {
    for (int blocks : {132, 528, 1056})
        for (int rounds : {64, 1024})
            measure("local-" + std::to_string(N) + "-" + std::to_string(blocks) + "x" + std::to_string(rounds),
                    [=] { local_array<N><<<blocks, 256>>>((float *)words, (const int *)words + 4096, rounds); });
}

int main(int argc, char **argv) {
    if (argc > 1) repeats = atoi(argv[1]);
    if (cudaMalloc(&words, WORDS * 4) != cudaSuccess) return fprintf(stderr, "waiting: no memory\n"), 1;
    clear();
    barrier_cases<BY_ATOMIC>(), barrier_cases<BY_VOLATILE>(), barrier_cases<BY_ACQUIRE>(), barrier_cases<WITH_SLEEP>();
    clear();
    lock_cases();
    chain_cases<BY_ATOMIC>(), chain_cases<BY_VOLATILE>(), chain_cases<BY_ACQUIRE>();
    word_cases<unsigned>("int"), word_cases<float>("float");
    swap_cases(), shared_cases();
    local_cases<8>(), local_cases<64>(), local_cases<256>();
}
