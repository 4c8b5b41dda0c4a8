// Additions of tensor cores: mma.sync of every float type, on operands whose sums are truncated; digests of all result bits.
// nvcc: -arch=sm_90 -std=c++17
// The expected digests are an H100's: nvcc -arch=sm_90 -std=c++17 tensor_sums.cu -o t && ./t
#include "expect.h"
#include "tensor_inputs.h"
#include <cstdio>
#include <vector>

enum { TRIALS = 768 };
struct shape {
    const char *name;
    int a, b, d, k;          // types; the sum's length
    int na, nb, nd;          // registers
    bool every;              // also tf32's unused bits
    void (*kernel)(const uint32_t *, const uint32_t *, const uint32_t *, uint32_t *);
};

template <class F> __device__ void each(int na, int nb, int nd, const uint32_t *A, const uint32_t *B, const uint32_t *C, uint32_t *D, F product) {
    uint32_t a[4], b[2], c[4], d[4];
    int trial = blockIdx.x, lane = threadIdx.x;
    for (int i = 0; i < na; i++) a[i] = A[(trial * na + i) * 32 + lane];
    for (int i = 0; i < nb; i++) b[i] = B[(trial * nb + i) * 32 + lane];
    for (int i = 0; i < nd; i++) c[i] = C[(trial * nd + i) * 32 + lane];
    product(a, b, c, d);
    for (int i = 0; i < nd; i++) D[(trial * nd + i) * 32 + lane] = d[i];
}
#define KERNEL(name, na, nb, nd, ...) \
    __global__ void name(const uint32_t *A, const uint32_t *B, const uint32_t *C, uint32_t *D) { \
        each(na, nb, nd, A, B, C, D, [](uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) { __VA_ARGS__ }); \
    }
#define LONG(name, what) KERNEL(name, 4, 2, 4, asm volatile("mma.sync.aligned." what " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};" \
    : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));)
#define SHORT(name, what) KERNEL(name, 2, 1, 4, asm volatile("mma.sync.aligned." what " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};" \
    : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));)
#define LONG_HALF(name, what) KERNEL(name, 4, 2, 2, asm volatile("mma.sync.aligned." what " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};" \
    : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));)
#define SHORT_HALF(name, what) KERNEL(name, 2, 1, 2, asm volatile("mma.sync.aligned." what " {%0,%1}, {%2,%3}, {%4}, {%5,%6};" \
    : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));)
LONG(f16_16, "m16n8k16.row.col.f32.f16.f16.f32")
SHORT(f16_8, "m16n8k8.row.col.f32.f16.f16.f32")
LONG_HALF(half_16, "m16n8k16.row.col.f16.f16.f16.f16")
SHORT_HALF(half_8, "m16n8k8.row.col.f16.f16.f16.f16")
LONG(bf16_16, "m16n8k16.row.col.f32.bf16.bf16.f32")
SHORT(bf16_8, "m16n8k8.row.col.f32.bf16.bf16.f32")
LONG(tf32_8, "m16n8k8.row.col.f32.tf32.tf32.f32")
SHORT(tf32_4, "m16n8k4.row.col.f32.tf32.tf32.f32")
LONG(e4m3_32, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
LONG(mixed_32, "m16n8k32.row.col.f32.e5m2.e4m3.f32")
SHORT(e4m3_16, "m16n8k16.row.col.f32.e4m3.e4m3.f32")
LONG_HALF(bytes_half, "m16n8k32.row.col.f16.e4m3.e5m2.f16")
LONG(e5m2_32, "m16n8k32.row.col.f32.e5m2.e5m2.f32")

static const shape SHAPES[] = {
    {"m16n8k16 f32 f16", F16, F16, F32, 16, 4, 2, 4, false, f16_16}, {"m16n8k8 f32 f16", F16, F16, F32, 8, 2, 1, 4, false, f16_8},
    {"m16n8k16 f16 f16", F16, F16, F16, 16, 4, 2, 2, false, half_16}, {"m16n8k8 f16 f16", F16, F16, F16, 8, 2, 1, 2, false, half_8},
    {"m16n8k16 f32 bf16", BF16, BF16, F32, 16, 4, 2, 4, false, bf16_16}, {"m16n8k8 f32 bf16", BF16, BF16, F32, 8, 2, 1, 4, false, bf16_8},
    {"m16n8k8 f32 tf32", TF32, TF32, F32, 8, 4, 2, 4, false, tf32_8}, {"m16n8k4 f32 tf32", TF32, TF32, F32, 4, 2, 1, 4, false, tf32_4},
    {"m16n8k32 f32 e4m3", E4M3, E4M3, F32, 32, 4, 2, 4, false, e4m3_32}, {"m16n8k32 f32 e5m2 e4m3", E5M2, E4M3, F32, 32, 4, 2, 4, false, mixed_32},
    {"m16n8k16 f32 e4m3", E4M3, E4M3, F32, 16, 2, 1, 4, false, e4m3_16}, {"m16n8k32 f16 e4m3 e5m2", E4M3, E5M2, F16, 32, 4, 2, 2, false, bytes_half},
    {"m16n8k8 f32 tf32, all bits", TF32, TF32, F32, 8, 4, 2, 4, true, tf32_8}, {"m16n8k32 f32 e5m2", E5M2, E5M2, F32, 32, 4, 2, 4, false, e5m2_32}};

static void inputs(int i, int trial, uint32_t *a, uint32_t *b, uint32_t *c) {
    const shape &s = SHAPES[i];
    random_words r = {(uint64_t)i * 7919 + (uint64_t)trial * 104729 + 1};
    int mode = trial % MODES;
    fill(s.a, mode, r, a, s.na * 32), fill(s.b, mode, r, b, s.nb * 32);
    fill(s.d, trial / 8 % 2 ? mode : 1 + trial / 16 % 7, r, c, s.nd * 32);
    for (int j = 0; s.every && j < 128; j++) {
        a[j] |= r.next() & 0x1fff;
        if (j < 64) b[j] |= r.next() & 0x1fff;
    }
}
static uint32_t *to_device(const std::vector<uint32_t> &v) {
    uint32_t *p;
    CHECK(cudaMalloc(&p, v.size() * 4));
    CHECK(cudaMemcpy(p, v.data(), v.size() * 4, cudaMemcpyHostToDevice));
    return p;
}
static void run(int i) {
    const shape &s = SHAPES[i];
    std::vector<uint32_t> a(TRIALS * s.na * 32), b(TRIALS * s.nb * 32), d(TRIALS * s.nd * 32);
    for (int t = 0; t < TRIALS; t++) inputs(i, t, &a[t * s.na * 32], &b[t * s.nb * 32], &d[t * s.nd * 32]);
    uint32_t *da = to_device(a), *db = to_device(b), *dd = to_device(d);
    s.kernel<<<TRIALS, 32>>>(da, db, dd, dd);
    CHECK(cudaMemcpy(d.data(), dd, d.size() * 4, cudaMemcpyDeviceToHost));
    printf("%s\n", s.name);
    for (int mode = 0; mode < MODES; mode++) {
        uint64_t h = digest(nullptr, 0);
        for (int t = mode; t < TRIALS; t += MODES) h = digest(&d[t * s.nd * 32], s.nd * 32, h);
        printf("  %-12s %016llx\n", MODE[mode], (unsigned long long)h);
    }
    cudaFree(da), cudaFree(db), cudaFree(dd);
}
int main() {
    for (int i = 0; i < (int)(sizeof SHAPES / sizeof *SHAPES); i++) run(i);
    return 0;
}
