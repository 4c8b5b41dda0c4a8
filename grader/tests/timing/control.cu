// control.cu — launches that each show one term which micro.cu, terms.cu and waiting.cu do not: branches at which the lanes of
// a warp part, votes, double precision, functions and divisions, messages between blocks, fences behind stores.
// control-*.tsv has a GPU's figures.
//
//   nvcc -O3 -arch=sm_90 control.cu -o control; ./control [REPEATS [PART]] >control-NAME.tsv     a line a case: name, microseconds
//   simgpu nvcc control.cu -o control; simgpu run --time --cold-caches ./control 0              the same launches once
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
    if (e != cudaSuccess) fprintf(stderr, "control: %s: %s\n", name.c_str(), cudaGetErrorString(e)), exit(1);
    printf("%s\t%.3f\n", name.c_str(), us);
    fflush(stdout);
}
static std::string number(long n) { return "-" + std::to_string(n); }

// Threads of a block for each SM of 132: one warp, one a scheduler, two, eight; two blocks of 1024: sixteen.
struct shape {
    int blocks, threads;
    const char *name;
};
static const shape shapes[] = {{132, 32, "-w1"}, {132, 128, "-w4"}, {132, 256, "-w8"}, {132, 1024, "-w32"}, {264, 1024, "-w64"}};

// ---- branches ----

// N multiplications one after the other; AT makes the code of each path its own. In assembly, lest the compiler merge the paths.
template <int N, int AT> __device__ float work(float x, float by) {
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(by), "f"(AT * 0.25f + 1));
    return x;
}
template <int P, int N> struct path {
    static __device__ void take(int k, float &x, float by) {
        if (k == P - 1) x = work<N, P>(x, by);
        else path<P - 1, N>::take(k, x, by);
    }
};
template <int N> struct path<1, N> {
    static __device__ void take(int, float &x, float by) { x = work<N, 1>(x, by); }
};
// P paths of N multiplications. APART: lanes take path (lane + r) % P, else all lanes path r % P.
template <int P, int N, bool APART> __global__ void paths(float *out, int rounds, float by) {
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) path<P, N>::take(((APART ? threadIdx.x : 0) + r) & (P - 1), x, by);
    if (x == 12345.f) out[0] = x;
}
// An `if` over N multiplications, which `lanes` lanes of a warp enter, other ones each round.
template <int N> __global__ void enters(float *out, int rounds, int lanes, float by) {
    float x = threadIdx.x, y = 1;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        if ((int)(threadIdx.x + r & 31) < lanes) y = work<N, 3>(y, by);
        else y += x;
    if (x + y == 12345.f) out[0] = y;
}
// Nested: each of DEPTH conditions halves the lanes.
template <int DEPTH> __device__ float nested(unsigned bits, float x, float by) {
    if (bits & 1) {
        x = work<10, DEPTH>(x, by);
        if constexpr (DEPTH > 1) x = nested<DEPTH - 1>(bits >> 1, x, by);
        x = work<10, DEPTH + 8>(x, by);
    }
    return x;
}
template <int DEPTH> __global__ void nests(float *out, int rounds, unsigned keep, float by) {
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) x = nested<DEPTH>((threadIdx.x + r) | keep, x, by);
    if (x == 12345.f) out[0] = x;
}
// An inner loop of 1 to T rounds (APART: by lane, else T / 2 + 1 for all); BREAKS: left by a `break` in its middle.
template <bool APART, bool BREAKS> __global__ void inner_loops(float *out, int rounds, int t, float by) {
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        int n = APART ? 1 + (threadIdx.x * 7 + r) % t : t / 2 + 1;
        if (BREAKS) {
#pragma unroll 1
            for (int i = 0;; i++) {
                x = fmaf(x, by, 1.f);
                if (i >= n) break;
                x = fmaf(x, by, 2.f);
            }
        } else {
#pragma unroll 1
            for (int i = 0; i < n; i++) x = fmaf(x, by, 1.f);
        }
    }
    if (x == 12345.f) out[0] = x;
}

enum vote_mode { VOTE_ONLY, VOTE_NEVER, VOTE_ALL_ENTER, VOTE_ONE_WORKS, VOTE_ONE_STORES, VOTE_ONE_LOADS, VOTE_ONE_ADDS };
// A vote each round; what follows if a lane votes true: all lanes or `lanes` lanes do something.
template <int MODE> __global__ void votes(unsigned *out, const unsigned *from, int rounds, int lanes) {
    unsigned x = threadIdx.x, sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        x = x * 1664525u + 1013904223u;
        bool yes = MODE == VOTE_NEVER ? x == 12345u : (int)(threadIdx.x + r & 31) < lanes;
        unsigned all = __ballot_sync(~0u, yes);
        if (MODE == VOTE_ONLY) sum += all;
        else if (all) {
            if (MODE == VOTE_ALL_ENTER) sum += __popc(all) * x, sum ^= sum << 3, sum += all, sum ^= sum >> 5, sum += x, sum ^= sum << 7, sum += all, sum ^= sum >> 9;
            else if (yes) {
                if (MODE == VOTE_ONE_STORES) out[blockIdx.x * 1024 + threadIdx.x] = sum;
                if (MODE == VOTE_ONE_LOADS) x += from[sum + threadIdx.x];
                if (MODE == VOTE_ONE_ADDS) atomicAdd(out + blockIdx.x * 1024 + threadIdx.x, sum);
                sum ^= sum << 3, sum += all, sum ^= sum >> 5, sum += x, sum ^= sum << 7, sum += all, sum ^= sum >> 9, sum += x, sum ^= sum << 2;
                if (MODE == VOTE_ONE_LOADS) sum &= 31;
            }
        }
    }
    if (x + sum == 12345u) out[0] = x;
}
// Two predicated or branched halves, then __syncwarp, or a shuffle.
template <int MODE> __global__ void rejoins(float *out, int rounds, float by) {
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x + r & 1) x = work<12, 1>(x, by);
        if (MODE == 1) __syncwarp();
        if (MODE == 2) x += __shfl_xor_sync(~0u, x, 1);
    }
    if (x == 12345.f) out[0] = x;
}
// Lanes count until all are done, with a vote each round; a lane is done `spread` rounds before the next one. The compiler
// can't know that the warp is whole here, so it has the warp meet before the vote. ENTERS: over a branch, else by predicates.
template <bool ENTERS> __global__ void walks(float *out, int rounds, int spread, float by) {
    float x = threadIdx.x;
    int left = rounds - spread * (31 - threadIdx.x % 32);
    while (true) {
        bool idle = left <= 0;
        unsigned all = __ballot_sync(~0u, idle);
        if (all == ~0u && (int)threadIdx.x < rounds) break;
        if (!idle) {
            if (ENTERS) x = work<12, 1>(x, by);
            else x = x * by + 1.f;
            left--;
        }
        if (all == 12345u) x += 1.f;
    }
    if (x == 12345.f) out[0] = x;
}
template <int P> static void paths_of(const shape &s) {
    const int rounds = 2048 / P;
    measure("paths-apart" + number(P) + "x4" + s.name, [=] { paths<P, 4, true><<<s.blocks, s.threads>>>((float *)b, rounds, 0.5f); });
    measure("paths-alike" + number(P) + "x4" + s.name, [=] { paths<P, 4, false><<<s.blocks, s.threads>>>((float *)b, rounds, 0.5f); });
    measure("paths-apart" + number(P) + "x16" + s.name, [=] { paths<P, 16, true><<<s.blocks, s.threads>>>((float *)b, rounds, 0.5f); });
    measure("paths-alike" + number(P) + "x16" + s.name, [=] { paths<P, 16, false><<<s.blocks, s.threads>>>((float *)b, rounds, 0.5f); });
}
template <int N> static void enters_of(const shape &s) {
    for (int lanes : {0, 1, 16, 31, 32})
        measure("enters" + number(N) + "-by" + std::to_string(lanes) + s.name, [=] { enters<N><<<s.blocks, s.threads>>>((float *)b, 1024, lanes, 0.5f); });
}
template <int MODE> static void votes_of(const char *name, const shape &s) {
    for (int lanes : {0, 1, 16, 32})
        measure(std::string("votes-") + name + "-by" + std::to_string(lanes) + s.name, [=] { votes<MODE><<<s.blocks, s.threads>>>((unsigned *)b, (unsigned *)a, 1024, lanes); });
}
static void branches() {
    for (const shape &s : shapes) {
        paths_of<1>(s), paths_of<2>(s), paths_of<4>(s), paths_of<8>(s), paths_of<16>(s), paths_of<32>(s);
        enters_of<2>(s), enters_of<6>(s), enters_of<10>(s), enters_of<16>(s), enters_of<64>(s);
        for (unsigned keep : {0u, ~0u}) {
            std::string tail = std::string(keep ? "-alike" : "-apart") + s.name;
            measure("nests-1" + tail, [=] { nests<1><<<s.blocks, s.threads>>>((float *)b, 1024, keep, 0.5f); });
            measure("nests-2" + tail, [=] { nests<2><<<s.blocks, s.threads>>>((float *)b, 1024, keep, 0.5f); });
            measure("nests-4" + tail, [=] { nests<4><<<s.blocks, s.threads>>>((float *)b, 1024, keep, 0.5f); });
        }
        for (int t : {2, 8, 32}) {
            std::string tail = number(t) + s.name;
            measure("loops-apart" + tail, [=] { inner_loops<true, false><<<s.blocks, s.threads>>>((float *)b, 256, t, 0.5f); });
            measure("loops-alike" + tail, [=] { inner_loops<false, false><<<s.blocks, s.threads>>>((float *)b, 256, t, 0.5f); });
            measure("breaks-apart" + tail, [=] { inner_loops<true, true><<<s.blocks, s.threads>>>((float *)b, 256, t, 0.5f); });
            measure("breaks-alike" + tail, [=] { inner_loops<false, true><<<s.blocks, s.threads>>>((float *)b, 256, t, 0.5f); });
        }
        votes_of<VOTE_ONLY>("only", s), votes_of<VOTE_NEVER>("never", s), votes_of<VOTE_ALL_ENTER>("all", s);
        votes_of<VOTE_ONE_WORKS>("works", s), votes_of<VOTE_ONE_STORES>("stores", s);
        votes_of<VOTE_ONE_LOADS>("loads", s), votes_of<VOTE_ONE_ADDS>("adds", s);
        for (int spread : {0, 1, 16}) {
            measure("walks-branch" + number(spread) + s.name, [=] { walks<true><<<s.blocks, s.threads>>>((float *)b, 1025, spread, 0.5f); });
            measure("walks-predicate" + number(spread) + s.name, [=] { walks<false><<<s.blocks, s.threads>>>((float *)b, 1025, spread, 0.5f); });
        }
        measure(std::string("rejoins-bare") + s.name, [=] { rejoins<0><<<s.blocks, s.threads>>>((float *)b, 1024, 0.5f); });
        measure(std::string("rejoins-sync") + s.name, [=] { rejoins<1><<<s.blocks, s.threads>>>((float *)b, 1024, 0.5f); });
        measure(std::string("rejoins-shuffle") + s.name, [=] { rejoins<2><<<s.blocks, s.threads>>>((float *)b, 1024, 0.5f); });
    }
}

// ---- double precision ----

enum double_mode { D_FMA, D_ADD, D_MUL, D_DIV, D_SQRT, D_RCP, D_EXP, D_LESS, D_FROM_FLOAT, D_TO_FLOAT, D_FROM_INT, D_TO_INT, D_BESIDE, D_MODES };
static const char *const double_names[] = {"fma", "add", "mul", "div", "sqrt", "rcp", "exp", "less", "from-float", "to-float", "from-int", "to-int", "beside"};

template <int MODE> __device__ double one_double(double v, double by, float &f) {
    if (MODE == D_FMA) return fma(v, by, 0.5);
    if (MODE == D_ADD) return v + by;
    if (MODE == D_MUL) return v * by;
    if (MODE == D_DIV) return by / v + 1;
    if (MODE == D_SQRT) return sqrt(v) + 1;
    if (MODE == D_RCP) return 1 / v + 1;
    if (MODE == D_EXP) return exp(v) - by;
    if (MODE == D_LESS) return v < by ? v + 1 : v - 1;
    if (MODE == D_BESIDE) f = fmaf(f, 0.5f, 1.f), f = fmaf(f, 0.5f, 2.f), f = fmaf(f, 0.5f, 3.f), f = fmaf(f, 0.5f, 4.f);
    return fma(v, by, 0.5);
}
// CHAINS independent chains of one operation.
template <int MODE, int CHAINS> __global__ void doubles(double *out, double by, int rounds) {
    double v[CHAINS];
    float f[CHAINS];
    for (int i = 0; i < CHAINS; i++) v[i] = threadIdx.x + i + 1, f[i] = i;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 2; k++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++) v[i] = one_double<MODE>(v[i], by, f[i]);
    double sum = 0;
    for (int i = 0; i < CHAINS; i++) sum += v[i] + f[i];
    if (sum == 12345.0) out[0] = sum;
}
// A conversion there and one back, each with a single-precision or integer operation: float, double, float.
template <int MODE, int CHAINS> __global__ void converts(double *out, int by, int rounds) {
    float f[CHAINS];
    int n[CHAINS];
    double sum = 0;
    for (int i = 0; i < CHAINS; i++) f[i] = threadIdx.x + i, n[i] = threadIdx.x + i;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 2; k++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++) {
                if (MODE == D_FROM_FLOAT) f[i] += __int_as_float(__double2hiint((double)f[i]));
                if (MODE == D_TO_FLOAT) f[i] = (float)__hiloint2double(__float_as_int(f[i]), by);
                if (MODE == D_FROM_INT) n[i] += __double2hiint((double)n[i]);
                if (MODE == D_TO_INT) n[i] = __double2int_rz(__hiloint2double(n[i], by));
            }
    for (int i = 0; i < CHAINS; i++) sum += f[i] + n[i];
    if (sum == 12345.0) out[0] = sum;
}
template <int MODE> static void doubles_of(const shape &s) {
    std::string head = std::string("double-") + double_names[MODE];
    if constexpr (MODE >= D_FROM_FLOAT && MODE <= D_TO_INT) {
        measure(head + "-1" + s.name, [=] { converts<MODE, 1><<<s.blocks, s.threads>>>((double *)b, 3, 512); });
        measure(head + "-4" + s.name, [=] { converts<MODE, 4><<<s.blocks, s.threads>>>((double *)b, 3, 128); });
    } else {
        measure(head + "-1" + s.name, [=] { doubles<MODE, 1><<<s.blocks, s.threads>>>((double *)b, 0.75, 512); });
        measure(head + "-4" + s.name, [=] { doubles<MODE, 4><<<s.blocks, s.threads>>>((double *)b, 0.75, 128); });
    }
}
static void double_precision() {
    for (const shape &s : shapes) {
        doubles_of<D_FMA>(s), doubles_of<D_ADD>(s), doubles_of<D_MUL>(s), doubles_of<D_DIV>(s), doubles_of<D_SQRT>(s);
        doubles_of<D_RCP>(s), doubles_of<D_EXP>(s), doubles_of<D_LESS>(s), doubles_of<D_BESIDE>(s);
        doubles_of<D_FROM_FLOAT>(s), doubles_of<D_TO_FLOAT>(s), doubles_of<D_FROM_INT>(s), doubles_of<D_TO_INT>(s);
    }
}

// ---- functions of floats, divisions of integers ----

enum function { F_EX2, F_RCP, F_RSQRT, F_LG2, F_SIN, F_TANH, F_EXPF, F_FAST_EXP, F_FAST_DIVIDE, F_FAST_MIX, F_U32_DIV, F_U32_REM, F_S32_DIV, F_U64_DIV, F_S64_REM, F_I2F, F_POPC, FUNCTIONS };
static const char *const function_names[] = {"ex2", "rcp", "rsqrt", "lg2", "sin", "tanh", "expf", "fast-exp", "fast-divide", "fast-mix", "u32-div", "u32-rem", "s32-div", "u64-div", "s64-rem", "i2f", "popc"};

template <int MODE> __device__ float one_float(float v, float by) {
    float r;
    if (MODE == F_EX2) asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    if (MODE == F_RCP) asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    if (MODE == F_RSQRT) asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    if (MODE == F_LG2) asm volatile("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    if (MODE == F_SIN) asm volatile("sin.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    if (MODE == F_TANH) asm volatile("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
    if (MODE == F_EXPF) r = expf(v);
    if (MODE == F_FAST_EXP) r = __expf(v);
    if (MODE == F_FAST_DIVIDE) r = __fdividef(by, v);
    if (MODE == F_FAST_MIX) r = 1 - __fdividef(2.f, __expf(2 * v) + 1);
    if (MODE == F_I2F) r = __int2float_rn(__float_as_int(v));
    return r;
}
template <int MODE> __device__ long long one_integer(long long v, long long by) {
    if (MODE == F_U32_DIV) return (unsigned)v / (unsigned)by + 12345678u;
    if (MODE == F_U32_REM) return (unsigned)v % (unsigned)by + 12345678u;
    if (MODE == F_S32_DIV) return (int)v / (int)by + 12345678;
    if (MODE == F_U64_DIV) return (unsigned long long)v / (unsigned long long)by + (12345678ull << 24);
    if (MODE == F_S64_REM) return v % by + (12345678ll << 24);
    return __popc((unsigned)v) + by;
}
// VARY: the divisor is another one each round, so that ptxas can't compute its reciprocal once.
template <int MODE, int CHAINS, bool VARY> __global__ void functions(float *out, long long by, int rounds) {
    constexpr bool INTEGER = MODE >= F_U32_DIV && MODE != F_I2F;
    float f[CHAINS];
    long long n[CHAINS], sum = 0;
    for (int i = 0; i < CHAINS; i++) f[i] = threadIdx.x + i, n[i] = threadIdx.x + i + (12345678ll << (MODE >= F_U64_DIV ? 24 : 0));
#pragma unroll 1
    for (int r = 0; r < rounds; r++, by += VARY)
#pragma unroll
        for (int k = 0; k < 2; k++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++)
                if (INTEGER) n[i] = one_integer<MODE>(n[i], by);
                else f[i] = one_float<MODE>(f[i], (float)by);
    for (int i = 0; i < CHAINS; i++) sum += n[i] + __float_as_int(f[i]);
    if (sum == 12345) out[0] = 1;
}
template <int MODE = 0> static void functions_of(const shape &s) {
    std::string head = std::string("function-") + function_names[MODE];
    measure(head + "-1" + s.name, [=] { functions<MODE, 1, false><<<s.blocks, s.threads>>>((float *)b, 1237, 256); });
    measure(head + "-4" + s.name, [=] { functions<MODE, 4, false><<<s.blocks, s.threads>>>((float *)b, 1237, 64); });
    if constexpr (MODE >= F_U32_DIV && MODE <= F_S64_REM) measure(head + "-vary" + s.name, [=] { functions<MODE, 1, true><<<s.blocks, s.threads>>>((float *)b, 1237, 256); });
    if constexpr (MODE + 1 < FUNCTIONS) functions_of<MODE + 1>(s);
}

// ---- messages ----

enum message { PLAIN, FENCED, RELEASED, EXCHANGED };
static const char *const message_names[] = {"plain", "fenced", "released", "exchanged"};

template <int HOW> __device__ unsigned look(unsigned *p) {
    unsigned v;
    if (HOW == EXCHANGED) return atomicAdd(p, 0);
    if (HOW == RELEASED) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    else v = *(volatile unsigned *)p;
    return v;
}
template <int HOW> __device__ void tell(unsigned *p, unsigned v) {
    if (HOW == FENCED) __threadfence();
    if (HOW == EXCHANGED) atomicExch(p, v);
    else if (HOW == RELEASED) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
    else *(volatile unsigned *)p = v;
}
// Block 0 and block `other` count a word up in turn; `words` words travel along, which each side writes before it tells.
// LOADED: the other blocks read memory until the exchange is over.
template <int HOW, bool LOADED> __global__ void exchange(unsigned *p, const float4 *from, int other, int rounds, int words) {
    unsigned first = p[96], side = blockIdx.x == 0 ? 0 : 1;
    if (LOADED && blockIdx.x != 0 && blockIdx.x != other) {
        float sum = 0;
        for (unsigned at = blockIdx.x * 256; *(volatile unsigned *)(p + 128) != first + 1; at = (at + gridDim.x * 256 * 8) & ((16 << 20) - 1))
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float4 v = __ldcg(from + ((at + k * gridDim.x * 256 + threadIdx.x) & ((16 << 20) - 1)));
                sum += v.x + v.y + v.z + v.w;
            }
        if (sum == 12345.f) p[1] = 1;
        return;
    }
    if (blockIdx.x != 0 && blockIdx.x != other || threadIdx.x >= 32) return;
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == 0) while (look<HOW>(p + 32 * side) != (unsigned)r + side) {}
        __syncwarp();
        unsigned v = words ? *(volatile unsigned *)(p + 1024 + 64 * side + threadIdx.x) : 0;
        if (threadIdx.x < words) p[1024 + 64 * (1 - side) + threadIdx.x] = v + r;
        __syncwarp();
        if (threadIdx.x == 0) tell<HOW>(p + 32 * (1 - side), r + 1);
    }
    if (side == 0 && threadIdx.x == 0) p[128] = first + 1;
}
__global__ void renew(unsigned *p) {
    p[0] = p[32] = 0, p[96] = p[128];
}
// Each round a thread writes STORES lines, then fences. SHARED: all blocks write the same lines.
template <int STORES, int FENCE> __global__ void fences(unsigned *out, int rounds) {
    unsigned *mine = out + (size_t)blockIdx.x * blockDim.x * 32 + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < STORES; k++) mine[k * blockDim.x] = r;
        if (FENCE == 0) asm volatile("" ::: "memory");
        if (FENCE == 1) __threadfence();
        if (FENCE == 2) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(mine + 31 * blockDim.x), "r"(r) : "memory");
        if (FENCE == 3) { __syncthreads(); if (threadIdx.x == 0) __threadfence(); __syncthreads(); }
    }
}
// A word that L1 may have is read after a fence, an acquire, or neither.
template <int HOW> __global__ void rereads(unsigned *out, const unsigned *from, unsigned *flag, int rounds) {
    unsigned x = threadIdx.x & 31, v = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        if (HOW == FENCED) __threadfence();
        else v = look<HOW>(flag);
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(from + x + v) : "memory");
        x += threadIdx.x & 31;
    }
    if (x == 12345) out[0] = x;
}
// Columns of blocks: each waits for the one above (`columns` before it), reads 32 words of it, and passes 32 on. LOADS: it
// loads 32 KiB before it waits; STORES: it stores 32 KiB behind its message.
template <int HOW, bool LOADS, bool STORES> __global__ void __launch_bounds__(256) relay(unsigned *flags, unsigned *words, float *to, const float *from, int columns, unsigned turn) {
    float v[32];
    float *mine = to + (size_t)blockIdx.x * 8192 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 32; k++) v[k] = LOADS ? from[(size_t)blockIdx.x * 8192 + k * 256 + threadIdx.x] : 1.f;
    unsigned word = 0;
    if ((int)blockIdx.x >= columns) {
        if (threadIdx.x == 0) {
            while (look<HOW>(flags + blockIdx.x - columns) != turn) {}
            if (HOW == FENCED) __threadfence();
        }
        __syncthreads();
        word = ((volatile unsigned *)words)[(blockIdx.x - columns) * 32 + threadIdx.x % 32];
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 32; k++) sum += v[k];
    if (threadIdx.x < 32) words[blockIdx.x * 32 + threadIdx.x] = word + 1 + (sum == 12345.f);
    if (HOW == FENCED) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (HOW == FENCED) *(volatile unsigned *)(flags + blockIdx.x) = turn;
        else tell<HOW>(flags + blockIdx.x, turn);
    }
    if (STORES)
#pragma unroll
        for (int k = 0; k < 32; k++) mine[k * 256] = v[k] + word;
}
template <int HOW, bool LOADS, bool STORES> static void relay_of(const char *name) {
    static unsigned turn;
    for (int columns : {1, 32, 128})
        measure(std::string("relay-") + message_names[HOW] + "-" + name + number(columns),
                [=] { relay<HOW, LOADS, STORES><<<columns == 1 ? 64 : columns * 16, 256>>>((unsigned *)b, (unsigned *)(b + (1 << 20)), (float *)(b + (128 << 20)), (float *)a, columns, ++turn); });
    cudaMemset(b, 0, 1 << 20), turn = 0;
}
template <int HOW> static void messages_of() {
    std::string head = std::string("exchange-") + message_names[HOW];
    unsigned *p = (unsigned *)b;
    for (int other : {1, 2, 66, 131}) {
        cudaMemset(b, 0, 8192);
        measure(head + "-with" + std::to_string(other), [=] { renew<<<1, 1>>>(p), exchange<HOW, false><<<132, 256>>>(p, (float4 *)a, other, 128, 0); });
    }
    for (int words : {1, 32})
        measure(head + "-words" + std::to_string(words), [=] { renew<<<1, 1>>>(p), exchange<HOW, false><<<132, 256>>>(p, (float4 *)a, 66, 128, words); });
    for (int blocks : {132, 528})
        measure(head + "-loaded" + std::to_string(blocks), [=] { renew<<<1, 1>>>(p), exchange<HOW, true><<<blocks, 256>>>(p, (float4 *)a, 66, 64, 0); });
    cudaMemset(b, 0, 8192);
}
template <int STORES> static void fences_of() {
    for (int blocks : {1, 132, 264})
        for (int threads : {32, 256, 1024}) {
            std::string tail = number(STORES) + number(blocks) + "x" + std::to_string(threads);
            measure("fences-none" + tail, [=] { fences<STORES, 0><<<blocks, threads>>>((unsigned *)b, 32); });
            measure("fences-fence" + tail, [=] { fences<STORES, 1><<<blocks, threads>>>((unsigned *)b, 32); });
            measure("fences-release" + tail, [=] { fences<STORES, 2><<<blocks, threads>>>((unsigned *)b, 32); });
            measure("fences-barrier" + tail, [=] { fences<STORES, 3><<<blocks, threads>>>((unsigned *)b, 32); });
        }
}
static void messages() {
    messages_of<PLAIN>(), messages_of<FENCED>(), messages_of<RELEASED>(), messages_of<EXCHANGED>();
    relay_of<FENCED, false, false>("bare"), relay_of<FENCED, true, false>("loads"), relay_of<FENCED, true, true>("copies");
    relay_of<RELEASED, false, false>("bare"), relay_of<RELEASED, true, false>("loads"), relay_of<RELEASED, true, true>("copies");
    fences_of<0>(), fences_of<1>(), fences_of<4>(), fences_of<16>();
    for (int threads : {32, 256}) {
        measure("rereads-plain" + number(threads), [=] { rereads<PLAIN><<<132, threads>>>((unsigned *)b, (unsigned *)a, (unsigned *)(b + 65536), 256); });
        measure("rereads-fenced" + number(threads), [=] { rereads<FENCED><<<132, threads>>>((unsigned *)b, (unsigned *)a, (unsigned *)(b + 65536), 256); });
        measure("rereads-acquired" + number(threads), [=] { rereads<RELEASED><<<132, threads>>>((unsigned *)b, (unsigned *)a, (unsigned *)(b + 65536), 256); });
        measure("rereads-exchanged" + number(threads), [=] { rereads<EXCHANGED><<<132, threads>>>((unsigned *)b, (unsigned *)a, (unsigned *)(b + 65536), 256); });
    }
}

// ---- a block or a thread alone ----

__global__ void counts(unsigned *out, const int *from, int n, int key) {
    unsigned sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += from[i] == key;
    if (sum == 12345u) out[0] = sum;
}
__global__ void largest(int *out, const int *from, int n) {
    int best = 0;
    for (int i = 0; i < n; i++) best = max(best, from[threadIdx.x * n + i]);
    if (best == 12345) out[0] = best;
}
// A block adds up its part; then its first thread adds up the words in shared memory.
__global__ void first_adds(int *out, int n) {
    __shared__ int s[1024];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int sum = 0;
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++) sum += s[i];
    if (sum == 12345) out[0] = sum;
}
static void alone() {
    for (int threads : {32, 256, 1024}) {
        measure("alone-counts" + number(threads), [=] { counts<<<1, threads>>>((unsigned *)b, (int *)a, 1 << 20, 5); });
        measure("alone-counts-132x" + std::to_string(threads), [=] { counts<<<132, threads>>>((unsigned *)b, (int *)a, 1 << 20, 5); });
    }
    for (int threads : {1, 32, 256}) measure("alone-largest" + number(threads), [=] { largest<<<1, threads>>>((int *)b, (int *)a, 8192); });
    for (int n : {64, 256, 1024}) measure("alone-first-adds" + number(n), [=] { first_adds<<<1056, 1024>>>((int *)b, n); });
}

int main(int argc, char **argv) {
    if (argc > 1) repeats = atoi(argv[1]);
    if (argc > 2) only = argv[2];
    if (cudaMalloc(&a, BYTES) != cudaSuccess || cudaMalloc(&b, BYTES) != cudaSuccess) return fprintf(stderr, "control: no memory\n"), 1;
    cudaMemset(a, 0, BYTES), cudaMemset(b, 0, BYTES);
    branches(), double_precision();
    for (const shape &s : shapes) functions_of(s);
    messages(), alone();
}
