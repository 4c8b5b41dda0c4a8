/* measure.cu — asks a GPU what its approximate functions give, and writes the answers as files for fit_tables.c:
 * `measure plain DIR`, and of a program that patch_raw.c changed, `measure raw DIR`. README.md has the commands.
 *
 * sin.approx and cos.approx are a product with 1/2π, rounded toward zero, and the unit's own operation. The product
 * skips some of the unit's operands, and the tables are easier to find when all are seen: patch_raw.c makes the
 * constant of that product 1. Files: NAME.BASE.LENGTH.u32 holds LENGTH results for operands from BASE on,
 * NAME.special.u32 and NAME.random.u32 those of operand lists that special() and random() below define: for whoever
 * looks for the form of another GPU's arithmetic. */
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include "grader/tests/mufu/operands.h"

typedef uint32_t u32;
typedef uint64_t u64;

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t e_ = (call);                                                                             \
        if (e_ != cudaSuccess) {                                                                             \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                                      \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* name, PTX, kind: f = f32, h = 16 bits, d = the high word of an f64, e = a whole f64, q = a quotient of
 * f32 */
#define FORMS(F)                                                                                             \
    F(rcp_ftz, "rcp.approx.ftz.f32", f) F(rsqrt_ftz, "rsqrt.approx.ftz.f32", f)                              \
    F(sqrt_ftz, "sqrt.approx.ftz.f32", f) F(lg2_ftz, "lg2.approx.ftz.f32", f)                                \
    F(ex2_ftz, "ex2.approx.ftz.f32", f) F(sin, "sin.approx.f32", f) F(cos, "cos.approx.f32", f)              \
    F(tanh, "tanh.approx.f32", f) F(rcp, "rcp.approx.f32", f) F(rsqrt, "rsqrt.approx.f32", f)                \
    F(sqrt, "sqrt.approx.f32", f) F(lg2, "lg2.approx.f32", f) F(ex2, "ex2.approx.f32", f)                    \
    F(sin_ftz, "sin.approx.ftz.f32", f) F(cos_ftz, "cos.approx.ftz.f32", f)                                  \
    F(ex2_f16, "ex2.approx.f16", h) F(ex2_bf16, "ex2.approx.ftz.bf16", h)                                    \
    F(tanh_f16, "tanh.approx.f16", h) F(tanh_bf16, "tanh.approx.bf16", h)                                    \
    F(rcp64, "rcp.approx.ftz.f64", d) F(rsqrt64_ftz, "rsqrt.approx.ftz.f64", d)                              \
    F(rsqrt64, "rsqrt.approx.f64", e) F(div_approx, "div.approx.f32", q)                                     \
    F(div_approx_ftz, "div.approx.ftz.f32", q) F(div_full, "div.full.f32", q)                                \
    F(div_full_ftz, "div.full.ftz.f32", q)

#define ASM_f(ptx)                                                                                           \
    asm(ptx " %0, %1;" : "=f"(y) : "f"(__uint_as_float(a)));                                                 \
    return __float_as_uint(y)
#define ASM_h(ptx)                                                                                           \
    asm(ptx " %0, %1;" : "=h"(h) : "h"((unsigned short)a));                                                  \
    return h
#define ASM_d(ptx)                                                                                           \
    asm(ptx " %0, %1;" : "=d"(d) : "d"(__hiloint2double((int)a, (int)(a * 2654435761u))));                   \
    return (u32)__double2hiint(d) | (u32)__double2loint(d)
#define ASM_e(ptx)                                                                                           \
    asm(ptx " %0, %1;" : "=d"(d) : "d"(__hiloint2double((int)a, (int)(a * 2654435761u))));                   \
    return (u64)__double_as_longlong(d)
#define ASM_q(ptx)                                                                                           \
    asm(ptx " %0, %1, %2;"                                                                                 \
        : "=f"(y)                                                                                            \
        : "f"(__uint_as_float(a)), "f"(__uint_as_float(a * 2654435761u + 12345)));                           \
    return __float_as_uint(y)

#define FUNCTION(name, ptx, kind)                                                                            \
    __device__ u64 at_##name(u32 a) {                                                                        \
        [[maybe_unused]] float y;                                                                            \
        [[maybe_unused]] double d;                                                                           \
        [[maybe_unused]] unsigned short h;                                                                   \
        ASM_##kind(ptx);                                                                                     \
    }                                                                                                        \
    __global__ void list_##name(const u32 *operands, u32 base, u32 n, u32 *low, u32 *high) {                 \
        u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                                       \
        if (i >= n) return;                                                                                  \
        u64 v = at_##name(operands ? operands[i] : base + i);                                                \
        low[i] = (u32)v;                                                                                     \
        high[i] = (u32)(v >> 32);                                                                            \
    }
FORMS(FUNCTION)

typedef void (*kernel_fn)(const u32 *, u32, u32, u32 *, u32 *);
struct form { const char *name; kernel_fn kernel; char kind; };
#define ENTRY(name, ptx, kind) {#name, list_##name, #kind[0]},
static const form forms[] = {FORMS(ENTRY)};

enum { MOST = 1 << 23 };
static u32 *d_operands, *d_low, *d_high;
static std::vector<u32> results(MOST), wide(MOST);
static std::string folder, prefix;

static void save(const std::string &name, const std::vector<u32> &v, u32 n) {
    FILE *f = fopen((folder + "/" + prefix + name).c_str(), "wb");
    if (!f || fwrite(v.data(), 4, n, f) != n || fclose(f)) perror(name.c_str()), exit(1);
}
static void ask(const form &f, const std::string &name, const u32 *operands, u32 base, u32 n) {
    if (operands) CHECK(cudaMemcpy(d_operands, operands, n * 4, cudaMemcpyHostToDevice));
    f.kernel<<<(n + 255) / 256, 256>>>(operands ? d_operands : nullptr, base, n, d_low, d_high);
    CHECK(cudaMemcpy(results.data(), d_low, n * 4, cudaMemcpyDeviceToHost));
    save(name, results, n);
    if (f.kind == 'e') {
        CHECK(cudaMemcpy(wide.data(), d_high, n * 4, cudaMemcpyDeviceToHost));
        save(name + "h", wide, n);
    }
}
static const form &named(const char *name) {
    for (const form &f : forms)
        if (!strcmp(f.name, name)) return f;
    exit(2);
}
static void segment(const char *name, u32 base, u32 n) {
    char label[99];
    snprintf(label, sizeof label, "%s.%08x.%u.u32", name, base, n);
    ask(named(name), label, nullptr, base, n);
}
/* A binade: all of it, or four pieces of it. exponent is the power of two that it begins with. */
static void binade(const char *name, int exponent, int negative = 0) {
    segment(name, (u32)negative << 31 | (u32)(exponent + 127) << 23, 1u << 23);
}
static void pieces(const char *name, int exponent, int negative = 0) {
    u32 base = (u32)negative << 31 | (u32)(exponent + 127) << 23;
    for (u32 k = 0; k < 4; k++) segment(name, base + (k << 21) + k * 777777u % 1000000u, 1u << 16);
}

/* Every exponent with both signs, and fractions at the ends and in between. */
static std::vector<u32> special() {
    std::vector<u32> v;
    for (u32 high = 0; high < 512; high++)
        for (u32 k = 0; k < 24; k++) {
            u32 ends[] = {0, 1, 2, 3, 0x400000, 0x3fffff, 0x7fffff, 0x7ffffe};
            v.push_back(high << 23 | (k < 8 ? ends[k] : mufu_mixed(high * 24 + k) >> 9));
        }
    return v;
}
/* The same for the high word of f64. */
static std::vector<u32> special64() {
    std::vector<u32> v;
    for (u32 high = 0; high < 4096; high++)
        for (u32 k = 0; k < 6; k++) {
            u32 ends[] = {0, 1, 0xfffff, 0x80000};
            v.push_back(high << 20 | (k < 4 ? ends[k] : mufu_mixed(high * 6 + k) >> 12));
        }
    return v;
}
/* Even places: any 32 bits; odd ones: between 2^-14 and 2^8, where the functions do something. */
static std::vector<u32> random(u32 n) {
    std::vector<u32> v;
    for (u32 i = 0; i < n; i++) {
        u32 a = mufu_mixed(i + 0x5bd1e995u), e = 113 + mufu_mixed(i ^ 0xdeadbeefu) % 22;
        v.push_back(i & 1 ? (a & 0x807fffffu) | e << 23 : a);
    }
    return v;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    bool raw = !strcmp(argv[1], "raw");
    folder = argv[2];
    CHECK(cudaMalloc(&d_operands, MOST * 4));
    CHECK(cudaMalloc(&d_low, MOST * 4));
    CHECK(cudaMalloc(&d_high, MOST * 4));
    if (raw) {
        prefix = "raw_";
        for (const char *name : {"sin", "cos"}) {
            for (int e : {-2, -3, -4, -1, -5, 0, -6, -9, -13}) binade(name, e);
            for (int e : {-7, -8, -10, -11, -12, -14, -16, -20, -24, -26, 1, 2, 5, 10, 20}) pieces(name, e);
            for (int e : {-2, -3, -1, 0, 1, -5}) pieces(name, e, 1);
            ask(named(name), std::string(name) + ".special.u32", special().data(), 0, (u32)special().size());
        }
        return 0;
    }
    binade("rcp_ftz", 0);
    for (int e : {0, 1}) binade("rsqrt_ftz", e), binade("sqrt_ftz", e);
    for (int e : {-1, 0, 1, -2, 2, 4, 30}) binade("lg2_ftz", e);
    for (int e : {0, -1, -2, -3})
        for (int s : {0, 1}) binade("ex2_ftz", e, s);
    for (int e = -8; e < 5; e++) binade("tanh", e);
    for (int e : {-3, -4, -8, -16, -32, -64, 3, 5, 8, 16, 64, 100}) pieces("lg2_ftz", e);
    for (int s : {0, 1})
        for (int e : {-4, -5, -6, -7, -8, -10, -12, -14, -18, -20, -22, -23, -24, -25, -26, 1, 2, 3, 4, 5, 6})
            pieces("ex2_ftz", e, s);
    for (int e : {-9, -10, -11, -12, -13, -14, -16, -20, -40}) pieces("tanh", e);
    for (int e : {-1, 0}) pieces("tanh", e, 1);
    for (int e : {1, -20, 100}) pieces("rcp_ftz", e), pieces("rsqrt_ftz", e), pieces("sqrt_ftz", e);
    for (int e : {0, 1, -4}) binade("sin", e);
    binade("cos", 0);
    for (const char *name : {"ex2_f16", "ex2_bf16", "tanh_f16", "tanh_bf16"}) segment(name, 0, 1u << 16);
    segment("rcp64", 0x3ff00000u, 1u << 20);
    for (u32 e : {0x3ff00000u, 0x40000000u}) segment("rsqrt64_ftz", e, 1u << 20);
    std::vector<u32> any = random(1u << 16), list = special(), list64 = special64();
    for (const form &f : forms) {
        if (f.kind == 'h') continue;
        ask(f, std::string(f.name) + ".random.u32", any.data(), 0, (u32)any.size());
        const std::vector<u32> &l = f.kind == 'd' || f.kind == 'e' ? list64 : list;
        ask(f, std::string(f.name) + ".special.u32", l.data(), 0, (u32)l.size());
    }
    return 0;
}
