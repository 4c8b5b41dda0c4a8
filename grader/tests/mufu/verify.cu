/* verify.cu — compares exec_mufu.h with the GPU for every operand of 32 bits, and writes what the GPU gave as digests
 * and vectors (operands.h) for the test: h100.bin. Compiled once for each environment; README.md has the commands.
 * With `raw`, of a program that patch_raw.c changed, it compares sine and cosine without the product before them, for
 * operands that PTX cannot give them. */
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "grader/tests/mufu/shim.h"
#define MUFU_TABLE(name, ...) __device__ const u32 mufu_##name[] = {__VA_ARGS__};
#include "grader/sim/insn/exec_mufu.h"
#include "grader/tests/mufu/operands.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t e_ = (call);                                                                             \
        if (e_ != cudaSuccess) {                                                                             \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                                      \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* name; operands: f = all f32, h = 16 bits, p = pairs of them, d = high words of f64 (f64 results), q =
 * two f32; PTX; model */
#ifdef FTZ
#define FORMS(F)                                                                                             \
    F(rcp_ftz, f, "rcp.approx.ftz.f32", rcp_approx(a))                                                       \
    F(rsqrt_ftz, f, "rsqrt.approx.ftz.f32", rsqrt_approx(a))                                                 \
    F(sqrt_ftz, f, "sqrt.approx.ftz.f32", sqrt_approx(a))                                                    \
    F(lg2_ftz, f, "lg2.approx.ftz.f32", lg2_approx(a))                                                       \
    F(ex2_ftz, f, "ex2.approx.ftz.f32", ex2_approx(a))                                                       \
    F(sin_ftz, f, "sin.approx.ftz.f32", sin_approx(a))                                                       \
    F(cos_ftz, f, "cos.approx.ftz.f32", cos_approx(a))                                                       \
    F(div_approx_ftz, q, "div.approx.ftz.f32", div_approx(a, b))                                             \
    F(div_full_ftz, q, "div.full.ftz.f32", div_full(a, b))
#define RAW(F)
#else
#define FORMS(F)                                                                                             \
    F(rcp, f, "rcp.approx.f32", rcp_approx(a))                                                               \
    F(rsqrt, f, "rsqrt.approx.f32", rsqrt_approx(a))                                                         \
    F(sqrt, f, "sqrt.approx.f32", sqrt_approx(a))                                                            \
    F(lg2, f, "lg2.approx.f32", lg2_approx(a))                                                               \
    F(ex2, f, "ex2.approx.f32", ex2_approx(a))                                                               \
    F(sin, f, "sin.approx.f32", sin_approx(a))                                                               \
    F(cos, f, "cos.approx.f32", cos_approx(a))                                                               \
    F(tanh, f, "tanh.approx.f32", tanh_approx(a))                                                            \
    F(mufu_rcp, f, "rcp.approx.ftz.f32", mufu_rcp(a))                                                        \
    F(mufu_rsqrt, f, "rsqrt.approx.ftz.f32", mufu_rsqrt(a))                                                  \
    F(mufu_sqrt, f, "sqrt.approx.ftz.f32", mufu_sqrt(a))                                                     \
    F(mufu_lg2, f, "lg2.approx.ftz.f32", mufu_lg2(a))                                                        \
    F(mufu_ex2, f, "ex2.approx.ftz.f32", mufu_ex2(a))                                                        \
    F(div_approx, q, "div.approx.f32", div_approx(a, b))                                                     \
    F(div_full, q, "div.full.f32", div_full(a, b))                                                           \
    F(ex2_f16, h, "ex2.approx.f16", ex2_f16(v))                                                              \
    F(ex2_bf16, h, "ex2.approx.ftz.bf16", ex2_bf16(v))                                                       \
    F(tanh_f16, h, "tanh.approx.f16", tanh_f16(v))                                                           \
    F(tanh_bf16, h, "tanh.approx.bf16", tanh_bf16(v))                                                        \
    F(ex2_f16x2, p, "ex2.approx.f16x2", BOTH(ex2_f16))                                                       \
    F(ex2_bf16x2, p, "ex2.approx.ftz.bf16x2", BOTH(ex2_bf16))                                                \
    F(tanh_f16x2, p, "tanh.approx.f16x2", BOTH(tanh_f16))                                                    \
    F(tanh_bf16x2, p, "tanh.approx.bf16x2", BOTH(tanh_bf16))                                                 \
    F(rcp_f64, d, "rcp.approx.ftz.f64", rcp_approx_f64(d))                                                   \
    F(rsqrt_ftz_f64, d, "rsqrt.approx.ftz.f64", rsqrt_approx_ftz_f64(d))                                     \
    F(rsqrt_f64, d, "rsqrt.approx.f64", rsqrt_approx_f64(d))
#define RAW(F)                                                                                               \
    F(raw_sin, f, "sin.approx.f32", mufu_sine(a, 0))                                                         \
    F(raw_cos, f, "cos.approx.f32", mufu_sine(a, 1))
#endif
#define BOTH(f) ((u32)f((u16)v) | (u32)f((u16)(v >> 16)) << 16)

#define BODY_f(ptx, model)                                                                                   \
    f32 a = f32_of(v), y;                                                                                    \
    asm(ptx " %0, %1;" : "=f"(y) : "f"(a));                                                                  \
    got = bits_of(y), want = bits_of(model)
#define BODY_h(ptx, model)                                                                                   \
    u16 y;                                                                                                   \
    asm(ptx " %0, %1;" : "=h"(y) : "h"((u16)v));                                                             \
    got = y, want = model
#define BODY_p(ptx, model)                                                                                   \
    u32 y;                                                                                                   \
    asm(ptx " %0, %1;" : "=r"(y) : "r"(v));                                                                  \
    got = y, want = model
#define BODY_d(ptx, model)                                                                                   \
    f64 d = f64_of((u64)v << 32 | w), y;                                                                     \
    asm(ptx " %0, %1;" : "=d"(y) : "d"(d));                                                                  \
    got = bits64_of(y), want = bits64_of(model)
#define BODY_q(ptx, model)                                                                                   \
    f32 a = f32_of(v), b = f32_of(w), y;                                                                     \
    asm(ptx " %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));                                                      \
    got = bits_of(y), want = bits_of(model)

struct note { u64 v, w, got, want; };
struct found { unsigned long long wrong; u32 noted; note note[64]; };

/* salt varies the second operand; only with salt 0 do results count for the digests. */
__device__ u32 other_operand(u32 v, u32 salt) {
    u32 w = mufu_second(v + salt);
    switch (salt) {
    case 5: return v;
    case 6: return (w & 0x807fffff) | (v & 0x7f800000); /* quotients near 1 */
    case 7: return ~0u;
    case 8: return 0;
    default: return w;
    }
}
#define FUNCTION(name, kind, ptx, model)                                                                     \
    __device__ void both_##name(u32 v, u32 w, u64 &got, u64 &want) { BODY_##kind(ptx, model); }              \
    __global__ void all_##name(u32 base, u32 salt, u32 *digest, found *f) {                                  \
        u32 sum = 0;                                                                                         \
        for (u32 k = 0; k < 64; k++) {                                                                       \
            u32 v = base + (blockIdx.x * 64 + k) * blockDim.x + threadIdx.x, w = other_operand(v, salt);     \
            u64 got, want;                                                                                   \
            both_##name(v, w, got, want);                                                                    \
            sum += mufu_digest(v, got);                                                                        \
            if (got != want) {                                                                               \
                atomicAdd(&f->wrong, 1);                                                                     \
                u32 at = atomicAdd(&f->noted, 1);                                                            \
                if (at < 64) f->note[at] = {v, w, got, want};                                                \
            }                                                                                                \
        }                                                                                                    \
        atomicAdd(digest, sum);                                                                              \
    }                                                                                                        \
    __global__ void list_##name(u32 *out) {                                                                  \
        u32 i = threadIdx.x + blockIdx.x * blockDim.x, v = mufu_vector(i);                             \
        u64 got, want;                                                                                       \
        both_##name(#kind[0] == 'h' ? v & 0xffff : v, mufu_second(v), got, want);                         \
        out[i] = #kind[0] == 'd' ? (u32)(got >> 32) ^ (u32)got : (u32)got;                                   \
    }
FORMS(FUNCTION) RAW(FUNCTION)

struct form { const char *name; char kind; void (*all)(u32, u32, u32 *, found *); void (*list)(u32 *); };
#define ENTRY(name, kind, ptx, model) {#name, #kind[0], all_##name, list_##name},
static const form forms[] = {FORMS(ENTRY)};
static const form raw[] = {RAW(ENTRY){nullptr, 0, nullptr, nullptr}};

static FILE *file;
static void verify(const form &m) {
    u32 blocks = m.kind == 'h' ? 1 : 512, grid = (m.kind == 'h' ? 1u << 16 : 1u << 23) / (256 * 64);
    u32 salts = m.kind == 'q' || m.kind == 'd' ? 9 : 1;
    u32 *digests, *list;
    found *f;
    CHECK(cudaMalloc(&digests, 513 * 4));
    CHECK(cudaMalloc(&list, MUFU_VECTORS * 4));
    CHECK(cudaMalloc(&f, sizeof *f));
    CHECK(cudaMemset(digests, 0, 513 * 4));
    CHECK(cudaMemset(f, 0, sizeof *f));
    for (u32 salt = 0; salt < salts; salt++)
        for (u32 k = 0; k < blocks; k++) m.all<<<grid, 256>>>(k << 23, salt, digests + (salt ? 512 : k), f);
    m.list<<<MUFU_VECTORS / 256, 256>>>(list);
    std::vector<u32> d(blocks), l(MUFU_VECTORS);
    found h;
    CHECK(cudaGetLastError()); /* a launch that was refused says so only here */
    CHECK(cudaMemcpy(d.data(), digests, blocks * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(l.data(), list, MUFU_VECTORS * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&h, f, sizeof h, cudaMemcpyDeviceToHost));
    printf("%-16s %llu of %llu differ\n", m.name, h.wrong, 256ull * 64 * salts * blocks * grid);
    for (u32 k = 0; k < h.noted && k < 64; k++) {
        unsigned long long v = h.note[k].v, w = h.note[k].w, got = h.note[k].got, want = h.note[k].want;
        printf("    %08llx %08llx gpu %llx model %llx\n", v, w, got, want);
    }
    fflush(stdout);
    if (!file || m.kind == 'p' || !strncmp(m.name, "mufu_", 5)) return; /* others hold the same */
    char name[16] = {0};
    memcpy(name, m.name, strlen(m.name));
    u32 counts[2] = {blocks, MUFU_VECTORS};
    fwrite(name, 1, 16, file), fwrite(counts, 4, 2, file);
    fwrite(d.data(), 4, blocks, file), fwrite(l.data(), 4, MUFU_VECTORS, file);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    if (!strcmp(argv[1], "raw")) {
        for (const form &m : raw)
            if (m.name) verify(m);
        return 0;
    }
    file = fopen(argv[1], "wb");
    if (!file) return 1;
    for (const form &m : forms) verify(m);
    return fclose(file) != 0;
}
