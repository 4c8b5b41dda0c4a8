// terms.cu — launches that each show one term which micro.cu does not: bursts of loads between arithmetic, data that
// is read again from an L2 that is too small for it, partial stores to resident lines, local memory, several arrays of
// words, divisions side by side, __nanosleep, the first instructions of a launch. terms-*.tsv has GPUs' figures.
//
//   nvcc -O3 -arch=sm_90 terms.cu -o terms; ./terms [REPEATS] >terms-NAME.tsv      a line a case: name, microseconds
//   simgpu nvcc terms.cu -o terms; simgpu run --time --cold-caches ./terms 0       the same launches once
//
// Caches are cold, as in micro.cu.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <string>
#include <vector>

static char *flush_area, *a, *b;
static const size_t FLUSH = 256u << 20, BYTES = 256u << 20;
static int repeats = 7;
static const char *only = "";
static cudaEvent_t start_event, stop_event;

static void check(const char *what) {
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) fprintf(stderr, "terms: %s: %s\n", what, cudaGetErrorString(e)), exit(1);
}

template <class F> static float time_once(F launch, int value) {
    float ms = 0;
    cudaMemsetAsync(flush_area, value, FLUSH);
    cudaEventRecord(start_event);
    launch();
    cudaEventRecord(stop_event);
    cudaEventSynchronize(stop_event);
    cudaEventElapsedTime(&ms, start_event, stop_event);
    return ms * 1e3f;
}

template <class F> static void measure(const std::string &name, F launch) {
    std::vector<float> times;
    if (name.find(only) == std::string::npos) return;
    if (!repeats) launch(), times.push_back(0);
    for (int i = 0; i < repeats; i++) {
        if (!i) time_once(launch, 0);
        times.push_back(time_once(launch, i + 1));
    }
    check(name.c_str());
    std::sort(times.begin(), times.end());
    printf("%s\t%.3f\n", name.c_str(), times[times.size() / 2]);
    fflush(stdout);
}

static std::string number(long n) { return "-" + std::to_string(n); }

// ---- bursts: a block loads, waits, computes for a while, and so on ----

template <int K> __global__ void __launch_bounds__(256) burst(float *out, const float4 *from, int rounds, int stride, int work, float by) {
    float x = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const float4 *p = from + ((size_t)blockIdx.x * rounds + r) * stride + threadIdx.x;
        float4 v[K];
#pragma unroll
        for (int k = 0; k < K; k++) v[k] = __ldcg(p + k * 256);
#pragma unroll
        for (int k = 0; k < K; k++) x += v[k].x + v[k].y + v[k].z + v[k].w;
        __syncthreads();
#pragma unroll 1
        for (int w = 0; w < work; w += 16)
#pragma unroll
            for (int i = 0; i < 16; i++) x = fmaf(x, by, 0.5f);
        __syncthreads();
    }
    if (x == 12345.f) out[0] = x;
}

template <int K> static void bursts_of(int rounds) {
    const int steps[] = {0, 64, 128, 256, 512, 1024, 4096}; // multiplications one after the other, 4 cycles each
    for (int work : steps) {
        std::string tail = number(K * 4) + "K" + number(work);
        measure("burst" + tail, [=] { burst<K><<<132, 256>>>((float *)b, (float4 *)a, rounds, K * 256, work, 0.5f); });
        measure("burst-two" + tail, [=] { burst<K><<<264, 256>>>((float *)b, (float4 *)a, rounds / 2, K * 256, work, 0.5f); });
        // Blocks read again what others have read: 4 KB apart, so that L2 has nearly all of it.
        measure("burst-l2" + tail, [=] { burst<K><<<132, 256>>>((float *)b, (float4 *)a, rounds, 256 / 8, work, 0.5f); });
    }
}
static void bursts() { bursts_of<1>(64), bursts_of<4>(32), bursts_of<16>(8); }

// ---- data that is read again ----

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
// Each block reads its own part again and again.
__global__ void own_again(float *to, const float4 *from, unsigned each, int rounds) {
    float sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll 4
        for (unsigned i = threadIdx.x; i < each; i += blockDim.x) {
            float4 v = __ldcg(from + (size_t)blockIdx.x * each + i);
            sum += v.x + v.y + v.z + v.w;
        }
    if (sum == 12345.f) to[0] = sum;
}
// All blocks read all of it.
__global__ void shared_by_all(float *to, const float4 *from, unsigned n) {
    float sum = 0;
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        float4 v = __ldcg(from + i);
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 12345.f) to[0] = sum;
}
static void reads_again() {
    const int mib[] = {16, 24, 28, 32, 36, 40, 44, 48, 56, 64, 96};
    for (int m : mib)
        for (int rounds = 1; rounds <= 4; rounds += 3) {
            std::string tail = number(m) + "Mx" + std::to_string(rounds);
            measure("again" + tail, [=] { again<<<264, 512>>>((float *)b, (float4 *)a, (unsigned)m << 16, rounds); });
            measure("own-again" + tail, [=] { own_again<<<128, 1024>>>((float *)b, (float4 *)a, (unsigned)m << 9, rounds); });
        }
    for (int m = 1; m <= 16; m *= 4)
        measure("by-all" + number(m) + "M", [=] { shared_by_all<<<132, 1024>>>((float *)b, (float4 *)a, (unsigned)m << 16); });
}

// ---- stores to parts of lines ----

// `lanes` lanes in each line, spread over its sectors; another thread's words in each pass.
template <bool LOAD> __global__ void parts(float *to, unsigned n, int lanes, int passes) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int p = 0; p < passes; p++) {
        unsigned i = (t + p * 4096u) % n, at = i / lanes * 32 + i % lanes * (32 / lanes);
        if (LOAD) ((volatile float *)to)[at] = ((volatile float *)to)[at] + 1;
        else ((volatile float *)to)[at] = p;
    }
}
static void partial_stores() {
    const int lanes[] = {1, 2, 4, 8, 16, 32};
    for (int l : lanes)
        for (int passes = 1; passes <= 17; passes += 16) {
            std::string tail = number(l) + "x" + std::to_string(passes);
            measure("parts-store" + tail, [=] { parts<false><<<528, 256>>>((float *)b, 528 * 256, l, passes); });
            measure("parts-change" + tail, [=] { parts<true><<<528, 256>>>((float *)b, 528 * 256, l, passes); });
        }
}

// ---- local memory ----

enum local_mode { STORES, LOADS, BOTH };
// An array of N words for each thread, indexed alike by all lanes or each in its own way.
template <int N, int MODE, bool ALIKE> __global__ void local(float *out, int zero, int passes) {
    float v[N], sum = 0;
    unsigned lane = ALIKE ? zero : threadIdx.x * 5 + zero;
#pragma unroll 1
    for (int i = 0; i < N; i++) v[(i + zero) % N] = i;
#pragma unroll 1
    for (int p = 0; p < passes; p++)
#pragma unroll 1
        for (int i = 0; i < N; i++) {
            unsigned k = (i * 7 + lane + p) % N;
            if (MODE == STORES) v[k] = sum + i;
            if (MODE == LOADS) sum += v[k];
            if (MODE == BOTH) v[k] += 1.5f;
        }
#pragma unroll 1
    for (int i = 0; i < N; i++) sum += v[(i + zero) % N];
    if (sum == 12345.f) out[0] = sum;
}
template <int N, int MODE, bool ALIKE> static void local_of(const char *name) {
    for (int threads = 256; threads <= 1024; threads *= 4)
        for (int passes = 1; passes <= 5; passes += 4)
            measure(std::string(ALIKE ? "local-alike-" : "local-apart-") + name + number(N) + number(threads) + "x" + std::to_string(passes * 256 / N),
                    [=] { local<N, MODE, ALIKE><<<132, threads>>>((float *)b, 0, passes * 256 / N); });
}
template <int N, bool ALIKE> static void local_modes() {
    local_of<N, STORES, ALIKE>("store"), local_of<N, LOADS, ALIKE>("load"), local_of<N, BOTH, ALIKE>("change");
}
static void local_memory() {
    local_modes<16, true>(), local_modes<64, true>(), local_modes<256, true>();
    local_modes<16, false>(), local_modes<64, false>(), local_modes<256, false>();
}

// ---- several arrays of words ----

template <int R, int W> __global__ void words(float *to, const float *from, size_t n) {
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        float v[R];
#pragma unroll
        for (int r = 0; r < R; r++) v[r] = from[r * n + i];
#pragma unroll
        for (int r = 1; r < R; r++) v[0] += v[r];
#pragma unroll
        for (int w = 0; w < W; w++) to[w * n + i] = v[w % R];
        if (W == 0 && v[0] == 12345.f) to[0] = v[0];
    }
}
template <int R, int W> static void words_of() {
    const size_t n = (192 << 20) / (R + W) / 4 / 1024 * 1024;
    const std::string tail = number(R) + "to" + std::to_string(W);
    measure("words-walk" + tail, [=] { words<R, W><<<1056, 256>>>((float *)b, (float *)a, n); });
    measure("words-each" + tail, [=] { words<R, W><<<(unsigned)(n / 256), 256>>>((float *)b, (float *)a, n); });
    measure("words-large" + tail, [=] { words<R, W><<<(unsigned)(n / 1024), 1024>>>((float *)b, (float *)a, n); });
}
static void word_arrays() { words_of<1, 0>(), words_of<1, 1>(), words_of<2, 1>(), words_of<3, 1>(), words_of<2, 2>(), words_of<1, 3>(), words_of<5, 1>(); }

// ---- divisions and roots ----

template <int CHAINS, bool ROOT> __global__ void divisions(float *out, float by, int rounds) {
    float v[CHAINS];
    for (int i = 0; i < CHAINS; i++) v[i] = threadIdx.x + i + 1;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < CHAINS; i++) v[i] = (ROOT ? sqrtf(v[i]) : by / v[i]) + 1;
    float sum = 0;
    for (int i = 0; i < CHAINS; i++) sum += v[i];
    if (sum == 12345.f) out[0] = sum;
}
template <int CHAINS> static void divisions_of() {
    for (int threads = 32; threads <= 1024; threads *= 32) {
        std::string tail = std::to_string(CHAINS) + number(threads);
        measure("divisions" + tail, [=] { divisions<CHAINS, false><<<132, threads>>>((float *)b, 0.5f, 1024 / CHAINS); });
        measure("roots" + tail, [=] { divisions<CHAINS, true><<<132, threads>>>((float *)b, 0.5f, 1024 / CHAINS); });
    }
}

// ---- __nanosleep; the first instructions of a launch ----

__global__ void sleep(float *out, unsigned ns, int rounds) {
#pragma unroll 1
    for (int r = 0; r < rounds; r++) __nanosleep(ns);
    if (rounds < 0) out[0] = 1;
}
// N instructions, each executed once.
template <int N> __global__ void straight(float *out, float x, float by) {
#pragma unroll
    for (int i = 0; i < N; i++) x = fmaf(x, by, i * 0.5f);
    if (x == 12345.f) out[0] = x;
}
__global__ void parameter(float *out, int n) {
    if (n == 12345) out[0] = 1;
}
template <int N> static void straight_of() {
    measure("straight" + number(N) + "-1x32", [=] { straight<N><<<1, 32>>>((float *)b, 1, 0.5f); });
    measure("straight" + number(N) + "-132x256", [=] { straight<N><<<132, 256>>>((float *)b, 1, 0.5f); });
}
static void small() {
    const unsigned ns[] = {0, 20, 50, 100, 200, 500, 1000, 2000, 5000, 20000};
    for (unsigned t : ns) {
        measure("sleep" + number(t) + "-1x32", [=] { sleep<<<1, 32>>>((float *)b, t, 32); });
        measure("sleep" + number(t) + "-132x256", [=] { sleep<<<132, 256>>>((float *)b, t, 32); });
    }
    measure("parameter-1x32", [=] { parameter<<<1, 32>>>((float *)b, 1); });
    measure("parameter-132x256", [=] { parameter<<<132, 256>>>((float *)b, 1); });
    straight_of<16>(), straight_of<64>(), straight_of<256>(), straight_of<1024>(), straight_of<4096>();
}

int main(int argc, char **argv) {
    if (argc > 1) repeats = atoi(argv[1]);
    if (argc > 2) only = argv[2];
    cudaMalloc(&a, BYTES), cudaMalloc(&b, BYTES);
    if (repeats) cudaMalloc(&flush_area, FLUSH);
    cudaMemset(a, 0, BYTES), cudaMemset(b, 0, BYTES);
    cudaEventCreate(&start_event), cudaEventCreate(&stop_event);
    check("opening");
    bursts(), reads_again(), partial_stores(), local_memory(), word_arrays();
    divisions_of<1>(), divisions_of<4>(), small();
    return 0;
}
