// Warpgroup products: every layout of a matrix in shared memory, every type, truncated sums; digests of all result bits.
// nvcc: -gencode arch=compute_90a,code=compute_90a -std=c++17
// The expected digests are an H100's: nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 wgmma.cu -o t && ./t
#include "expect.h"
#include "tensor_inputs.h"
#include "warpgroup.h"
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { IMAGE = 160 * 1024, B_AT = 64 * 1024 }; // bytes of shared memory; offset of b

// ---- a kernel for each form of the instruction ----

struct places {
    uint64_t a, b; // descriptors, from the first byte of shared memory on
    int adds;
};
template <class F> __device__ void run(const uint4 *image, const uint32_t *registers, uint32_t *d, int count, places p, F product) {
    extern __shared__ __align__(1024) uint4 shared[];
    for (int i = threadIdx.x; i < IMAGE / 16; i += 128) shared[i] = image[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint64_t at = (uint32_t)__cvta_generic_to_shared(shared) >> 4;
    uint32_t a[5], v[128]; // in sparse forms, a[4] has the positions in k of a's elements
    for (int i = 0; i < 5; i++) a[i] = registers[i * 128 + threadIdx.x];
    for (int i = 0; i < count; i++) v[i] = d[i * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    product(v, a, p.a + at, p.b + at, p.adds);
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < count; i++) d[i * 128 + threadIdx.x] = v[i];
}

#define KERNEL(name, n, what, names, inputs) \
    __global__ void __launch_bounds__(128) name(const uint4 *image, const uint32_t *registers, uint32_t *d, places p) { \
        run(image, registers, d, n, p, [](uint32_t *v, const uint32_t *a, uint64_t da, uint64_t db, int adds) { \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, " names " {" NAMES_##n "}, " what "; }" : RESULTS_##n : inputs(), "l"(db), "r"(adds)); \
        }); \
    }
// SS: a in shared memory, RS: in registers. "ADDS, 0; wgmma… {d}, A, B, p{, signs}{, transposed}".
#define SHARED() "l"(da)
#define REGISTERS() "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
KERNEL(form_0, 32, "%32, %33, p, 1, 1, 0, 0", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", SHARED)
KERNEL(form_1, 32, "%32, %33, p, 1, 1, 0, 1", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", SHARED)
KERNEL(form_2, 32, "%32, %33, p, 1, 1, 1, 0", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", SHARED)
KERNEL(form_3, 32, "%32, %33, p, 1, 1, 1, 1", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", SHARED)
KERNEL(form_4, 32, "{%32, %33, %34, %35}, %36, p, 1, 1, 0", "%37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", REGISTERS)
KERNEL(form_5, 32, "{%32, %33, %34, %35}, %36, p, 1, 1, 1", "%37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", REGISTERS)
KERNEL(form_6, 4, "%4, %5, p, 1, 1, 0, 0", "%6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", SHARED)
KERNEL(form_7, 12, "%12, %13, p, 1, 1, 0, 0", "%14, 0; wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16", SHARED)
KERNEL(form_8, 128, "%128, %129, p, 1, 1, 0, 0", "%130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", SHARED)
KERNEL(form_9, 128, "%128, %129, p, 1, 1, 0, 1", "%130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", SHARED)
KERNEL(form_10, 4, "%4, %5, p, -1, 1, 0, 0", "%6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", SHARED)
KERNEL(form_11, 4, "%4, %5, p, 1, -1, 0, 0", "%6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", SHARED)
KERNEL(form_12, 4, "%4, %5, p, -1, -1, 0, 0", "%6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", SHARED)
KERNEL(form_13, 4, "{%4, %5, %6, %7}, %8, p, -1, 1, 0", "%9, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", REGISTERS)
KERNEL(form_14, 16, "%16, %17, p, 1, 1, 0, 0", "%18, 0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16", SHARED)
KERNEL(form_15, 16, "{%16, %17, %18, %19}, %20, p, 1, 1, 0", "%21, 0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16", REGISTERS)
KERNEL(form_16, 32, "%32, %33, p, 1, 1, 0, 0", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16", SHARED)
KERNEL(form_17, 32, "{%32, %33, %34, %35}, %36, p, 1, 1, 1", "%37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16", REGISTERS)
KERNEL(form_18, 32, "%32, %33, p, 1, 1", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32", SHARED)
KERNEL(form_19, 32, "{%32, %33, %34, %35}, %36, p, 1, 1", "%37, 0; wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32", REGISTERS)
KERNEL(form_20, 32, "%32, %33, p, 1, 1", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3", SHARED)
KERNEL(form_21, 32, "{%32, %33, %34, %35}, %36, p, 1, 1", "%37, 0; wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e4m3", REGISTERS)
KERNEL(form_22, 16, "%16, %17, p, 1, 1", "%18, 0; wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e5m2", SHARED)
KERNEL(form_23, 16, "{%16, %17, %18, %19}, %20, p, 1, 1", "%21, 0; wgmma.mma_async.sync.aligned.m64n64k32.f16.e5m2.e5m2", REGISTERS)
KERNEL(form_24, 32, "%32, %33, p", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8", SHARED)
KERNEL(form_25, 32, "{%32, %33, %34, %35}, %36, p", "%37, 0; wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8", REGISTERS)
KERNEL(form_26, 32, "%32, %33, p", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.u8", SHARED)
KERNEL(form_27, 4, "%4, %5, p", "%6, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.u8", SHARED)
KERNEL(form_28, 4, "%4, %5, p", "%6, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite", SHARED)
KERNEL(form_29, 32, "%32, %33, p", "%34, 0; wgmma.mma_async.sync.aligned.m64n64k256.s32.b1.b1.and.popc", SHARED)
KERNEL(form_30, 4, "{%4, %5, %6, %7}, %8, p", "%9, 0; wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc", REGISTERS)
// The same with half of a's elements left out.
#define SPARSE() "r"(a[4]), "l"(da)
#define SPARSE_REGISTERS() "r"(a[4]), REGISTERS()
KERNEL(form_31, 32, "%33, %34, %32, 0, p, 1, 1, 0, 0", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16", SPARSE)
KERNEL(form_32, 32, "%33, %34, %32, 1, p, 1, 1, 0, 0", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16", SPARSE)
KERNEL(form_33, 32, "%33, %34, %32, 0, p, 1, 1, 0, 1", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16", SPARSE)
KERNEL(form_34, 32, "%33, %34, %32, 1, p, 1, 1, 1, 0", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16", SPARSE)
KERNEL(form_35, 32, "%33, %34, %32, 0, p, 1, 1, 1, 1", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16", SPARSE)
KERNEL(form_36, 32, "{%33, %34, %35, %36}, %37, %32, 1, p, 1, 1, 0", "%38, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16", SPARSE_REGISTERS)
KERNEL(form_37, 32, "{%33, %34, %35, %36}, %37, %32, 0, p, 1, 1, 1", "%38, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16", SPARSE_REGISTERS)
KERNEL(form_38, 4, "%5, %6, %4, 0, p, -1, 1, 0, 0", "%7, 0; wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", SPARSE)
KERNEL(form_39, 128, "%129, %130, %128, 0, p, 1, 1, 0, 0", "%131, 0; wgmma.mma_async.sp.sync.aligned.m64n256k32.f32.f16.f16", SPARSE)
KERNEL(form_40, 16, "%17, %18, %16, 0, p, 1, 1, 0, 0", "%19, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f16.f16.f16", SPARSE)
KERNEL(form_41, 32, "%33, %34, %32, 1, p, 1, 1, 0, 0", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.bf16.bf16", SPARSE)
KERNEL(form_42, 32, "%33, %34, %32, 0, p, 1, 1", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k16.f32.tf32.tf32", SPARSE)
KERNEL(form_43, 32, "%33, %34, %32, 1, p, 1, 1", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k16.f32.tf32.tf32", SPARSE)
KERNEL(form_44, 32, "{%33, %34, %35, %36}, %37, %32, 1, p, 1, 1", "%38, 0; wgmma.mma_async.sp.sync.aligned.m64n64k16.f32.tf32.tf32", SPARSE_REGISTERS)
KERNEL(form_45, 32, "%33, %34, %32, 0, p, 1, 1", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k64.f32.e4m3.e4m3", SPARSE)
KERNEL(form_46, 32, "{%33, %34, %35, %36}, %37, %32, 0, p, 1, 1", "%38, 0; wgmma.mma_async.sp.sync.aligned.m64n64k64.f32.e5m2.e4m3", SPARSE_REGISTERS)
KERNEL(form_47, 16, "%17, %18, %16, 0, p, 1, 1", "%19, 0; wgmma.mma_async.sp.sync.aligned.m64n64k64.f16.e4m3.e5m2", SPARSE)
KERNEL(form_48, 32, "%33, %34, %32, 0, p", "%35, 0; wgmma.mma_async.sp.sync.aligned.m64n64k64.s32.s8.s8", SPARSE)
KERNEL(form_49, 32, "{%33, %34, %35, %36}, %37, %32, 0, p", "%38, 0; wgmma.mma_async.sp.sync.aligned.m64n64k64.s32.u8.s8", SPARSE_REGISTERS)
KERNEL(form_50, 4, "%5, %6, %4, 0, p", "%7, 0; wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.u8", SPARSE)
KERNEL(form_51, 4, "%5, %6, %4, 0, p", "%7, 0; wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8.satfinite", SPARSE)

struct form {
    void (*kernel)(const uint4 *, const uint32_t *, uint32_t *, places);
    const char *name;
    int count; // registers of d
    int d, a, b;
    bool integers, a_across, b_across;
};
static const form FORMS[] = {
    {form_0, "m64n64k16.f32.f16.f16", 32, F32, F16, F16, false, false, false},
    {form_1, "m64n64k16.f32.f16.f16", 32, F32, F16, F16, false, false, true},
    {form_2, "m64n64k16.f32.f16.f16", 32, F32, F16, F16, false, true, false},
    {form_3, "m64n64k16.f32.f16.f16", 32, F32, F16, F16, false, true, true},
    {form_4, "m64n64k16.f32.f16.f16, a in registers", 32, F32, F16, F16, false, false, false},
    {form_5, "m64n64k16.f32.f16.f16, a in registers", 32, F32, F16, F16, false, false, true},
    {form_6, "m64n8k16.f32.f16.f16", 4, F32, F16, F16, false, false, false},
    {form_7, "m64n24k16.f32.f16.f16", 12, F32, F16, F16, false, false, false},
    {form_8, "m64n256k16.f32.f16.f16", 128, F32, F16, F16, false, false, false},
    {form_9, "m64n256k16.f32.f16.f16", 128, F32, F16, F16, false, false, true},
    {form_10, "m64n8k16.f32.f16.f16", 4, F32, F16, F16, false, false, false},
    {form_11, "m64n8k16.f32.f16.f16", 4, F32, F16, F16, false, false, false},
    {form_12, "m64n8k16.f32.f16.f16", 4, F32, F16, F16, false, false, false},
    {form_13, "m64n8k16.f32.f16.f16, a in registers", 4, F32, F16, F16, false, false, false},
    {form_14, "m64n64k16.f16.f16.f16", 16, F16, F16, F16, false, false, false},
    {form_15, "m64n64k16.f16.f16.f16, a in registers", 16, F16, F16, F16, false, false, false},
    {form_16, "m64n64k16.f32.bf16.bf16", 32, F32, BF16, BF16, false, false, false},
    {form_17, "m64n64k16.f32.bf16.bf16, a in registers", 32, F32, BF16, BF16, false, false, true},
    {form_18, "m64n64k8.f32.tf32.tf32", 32, F32, TF32, TF32, false, false, false},
    {form_19, "m64n64k8.f32.tf32.tf32, a in registers", 32, F32, TF32, TF32, false, false, false},
    {form_20, "m64n64k32.f32.e4m3.e4m3", 32, F32, E4M3, E4M3, false, false, false},
    {form_21, "m64n64k32.f32.e5m2.e4m3, a in registers", 32, F32, E5M2, E4M3, false, false, false},
    {form_22, "m64n64k32.f16.e4m3.e5m2", 16, F16, E4M3, E5M2, false, false, false},
    {form_23, "m64n64k32.f16.e5m2.e5m2, a in registers", 16, F16, E5M2, E5M2, false, false, false},
    {form_24, "m64n64k32.s32.s8.s8", 32, S8, S8, S8, true, false, false},
    {form_25, "m64n64k32.s32.u8.s8, a in registers", 32, S8, U8, S8, true, false, false},
    {form_26, "m64n64k32.s32.s8.u8", 32, S8, S8, U8, true, false, false},
    {form_27, "m64n8k32.s32.u8.u8", 4, S8, U8, U8, true, false, false},
    {form_28, "m64n8k32.s32.s8.s8.satfinite", 4, S8, S8, S8, true, false, false},
    {form_29, "m64n64k256.s32.b1.b1.and.popc", 32, S8, B1, B1, true, false, false},
    {form_30, "m64n8k256.s32.b1.b1.and.popc, a in registers", 4, S8, B1, B1, true, false, false},
    {form_31, "m64n64k32.f32.f16.f16.sp, selector 0", 32, F32, F16, F16, false, false, false},
    {form_32, "m64n64k32.f32.f16.f16.sp, selector 1", 32, F32, F16, F16, false, false, false},
    {form_33, "m64n64k32.f32.f16.f16.sp, selector 0", 32, F32, F16, F16, false, false, true},
    {form_34, "m64n64k32.f32.f16.f16.sp, selector 1", 32, F32, F16, F16, false, true, false},
    {form_35, "m64n64k32.f32.f16.f16.sp, selector 0", 32, F32, F16, F16, false, true, true},
    {form_36, "m64n64k32.f32.f16.f16.sp, selector 1, a in registers", 32, F32, F16, F16, false, false, false},
    {form_37, "m64n64k32.f32.f16.f16.sp, selector 0, a in registers", 32, F32, F16, F16, false, false, true},
    {form_38, "m64n8k32.f32.f16.f16.sp, selector 0", 4, F32, F16, F16, false, false, false},
    {form_39, "m64n256k32.f32.f16.f16.sp, selector 0", 128, F32, F16, F16, false, false, false},
    {form_40, "m64n64k32.f16.f16.f16.sp, selector 0", 16, F16, F16, F16, false, false, false},
    {form_41, "m64n64k32.f32.bf16.bf16.sp, selector 1", 32, F32, BF16, BF16, false, false, false},
    {form_42, "m64n64k16.f32.tf32.tf32.sp, selector 0", 32, F32, TF32, TF32, false, false, false},
    {form_43, "m64n64k16.f32.tf32.tf32.sp, selector 1", 32, F32, TF32, TF32, false, false, false},
    {form_44, "m64n64k16.f32.tf32.tf32.sp, selector 1, a in registers", 32, F32, TF32, TF32, false, false, false},
    {form_45, "m64n64k64.f32.e4m3.e4m3.sp, selector 0", 32, F32, E4M3, E4M3, false, false, false},
    {form_46, "m64n64k64.f32.e5m2.e4m3.sp, selector 0, a in registers", 32, F32, E5M2, E4M3, false, false, false},
    {form_47, "m64n64k64.f16.e4m3.e5m2.sp, selector 0", 16, F16, E4M3, E5M2, false, false, false},
    {form_48, "m64n64k64.s32.s8.s8.sp, selector 0", 32, S8, S8, S8, true, false, false},
    {form_49, "m64n64k64.s32.u8.s8.sp, selector 0, a in registers", 32, S8, U8, S8, true, false, false},
    {form_50, "m64n8k64.s32.s8.u8.sp, selector 0", 4, S8, S8, U8, true, false, false},
    {form_51, "m64n8k64.s32.s8.s8.satfinite.sp, selector 0", 4, S8, S8, S8, true, false, false},
};
enum { COUNT = sizeof FORMS / sizeof *FORMS, DENSE = 31 };

// ---- cases ----

struct matrix {
    uint32_t at, lead, stride, swizzle, base; // bytes, but for the swizzle (1: 128, 2: 64, 3: 32 bytes) and the base offset
};
struct test {
    int form;
    matrix a, b;
    int mode;
    bool adds;
};
static std::vector<test> tests;
static void add(int form, test t) {
    t.form = form;
    tests.push_back(t);
}

static const test PLAIN = {0, {0, 128, 256}, {0, 128, 256}, INTEGERS, true};
static test swizzled(uint32_t swizzle) {
    test t = PLAIN;
    uint32_t row = 256 >> swizzle;
    t.a.swizzle = t.b.swizzle = swizzle, t.a.lead = t.b.lead = 16, t.a.stride = t.b.stride = row * 8;
    return t;
}
// No swizzle: unique strides identify the dimensions.
static void plain_layouts() {
    for (int i = 0; i < DENSE; i++) add(i, PLAIN);
    test odd = PLAIN;
    odd.a = {16, 1040, 2128}, odd.b = {48, 1168, 2320};
    for (int i = 0; i < DENSE; i++)
        if (i != 8 && i != 9) add(i, odd);
    add(8, odd), add(9, odd);
}
static void swizzled_layouts(uint32_t swizzle) {
    uint32_t row = 256 >> swizzle;
    const test c = swizzled(swizzle);
    for (int i = 0; i < DENSE; i++) {
        test t = c;
        if (FORMS[i].a_across) t.a.lead = row * 16;
        if (FORMS[i].b_across) t.b.lead = row * 16;
        add(i, t);
        t.adds = false, t.a.lead += 5 * 1024, t.a.stride += 1024, t.b.lead += 3 * 1024, t.b.stride += 1024;
        add(i, t);
    }
    for (uint32_t step = 16; step < 128; step += 16) {
        test t = c;
        t.a.at += step, t.b.at += 2 * step;
        add(0, t);
    }
    for (uint32_t step = 128; step < 1024; step += 128) {
        test t = c;
        t.a.at += step, t.b.at += 1024 + step;
        add(0, t);
        t.a.base = step / 128, t.b.base = 8 - step / 128;
        add(0, t), add(3, t);
        t.b.base = 0;
        add(0, t);
    }
    test t = c;
    t.a.at += 16, t.a.lead = 48, t.b.at += 240;
    add(0, t), add(3, t);
    t.a.stride += 16, t.b.stride += 48;
    add(0, t), add(3, t);
    t = c, t.a.base = 3, t.b.base = 5;
    add(0, t), add(3, t);
}
static void mixed_layouts() {
    test t = PLAIN;
    t.a.swizzle = 1, t.a.stride = 1024;
    add(0, t);
    t = PLAIN, t.b.swizzle = 2, t.b.stride = 512;
    add(0, t), add(1, t);
    t = PLAIN, t.a.base = 3, t.b.base = 5;
    add(0, t);
}
static void sums() {
    for (int form : {0, 4, 10, 11, 12, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 27, 28})
        for (int mode = 1; mode < (FORMS[form].integers ? 4 : (int)MODES); mode++) {
            test t = PLAIN;
            t.mode = mode, t.adds = mode != 2;
            add(form, t);
        }
}

// b has twice the bytes in k: with a swizzle within 32 bytes, more than that.
static void sparse() {
    test odd = PLAIN;
    odd.a = {16, 1040, 2128}, odd.b = {48, 1168, 4640};
    for (int i = DENSE; i < COUNT; i++) {
        add(i, PLAIN);
        if (FORMS[i].count < 128) add(i, odd); // the block has no room for more columns
        for (uint32_t swizzle = 1; swizzle <= 3; swizzle++) {
            uint32_t row = 256 >> swizzle;
            test t = swizzled(swizzle);
            if (FORMS[i].a_across) t.a.lead = row * 16;
            if (FORMS[i].b_across) t.b.lead = row * 16;
            add(i, t);
            t.adds = false, t.a.lead += 5 * 1024, t.a.stride += 1024, t.b.lead += 3 * 1024, t.b.stride += 1024;
            add(i, t);
            t.a.at += 128, t.a.base = 1, t.b.at += 1024 + 32;
            add(i, t);
        }
    }
    for (int form = DENSE; form < COUNT; form++)
        for (int mode = 1; mode < (FORMS[form].integers ? 4 : (int)MODES); mode++) {
            test t = PLAIN;
            t.mode = mode, t.adds = mode != 2;
            add(form, t);
        }
}

// The positions of two of four elements, lower first; for 32-bit elements that of one of two, as its two halves.
static uint32_t places_of(int type, random_words &r) {
    static const uint32_t PAIRS[] = {4, 8, 12, 9, 13, 14}, ONES[] = {4, 14};
    uint32_t v = 0;
    for (int at = 0; at < 32; at += 4) v |= (type == TF32 ? ONES[r.next() % 2] : PAIRS[r.next() % 6]) << at;
    return v;
}

static void inputs(int i, std::vector<uint32_t> &image, std::vector<uint32_t> &a, std::vector<uint32_t> &d) {
    const test &t = tests[i];
    const form &f = FORMS[t.form];
    random_words r = {(uint64_t)(t.mode ? i : 0) * 65537 + (uint64_t)f.a * 31 + (uint64_t)f.b * 7 + (uint64_t)t.mode};
    fill(f.a, t.mode, r, image.data(), B_AT / 4), fill(f.b, t.mode, r, image.data() + B_AT / 4, (IMAGE - B_AT) / 4);
    fill(f.a, t.mode, r, a.data(), a.size());
    if (!f.integers) fill(f.d, t.mode, r, d.data(), d.size());
    else
        for (auto &v : d) v = t.mode == 3 ? 0x7ffffff0 - r.next() % 4000 : r.next() % 2000 - 1000;
    for (int lane = 0; lane < 128; lane++) a.push_back(places_of(f.a, r));
}
static uint64_t descriptor(const matrix &m, uint32_t from) {
    return (uint64_t)((m.stride >> 4) | m.base << 17 | m.swizzle << 30) << 32 | (uint64_t)(m.lead >> 4) << 16 | (from + m.at) >> 4;
}
static uint32_t *to_device(const std::vector<uint32_t> &v) {
    uint32_t *p;
    CHECK(cudaMalloc(&p, v.size() * 4));
    CHECK(cudaMemcpy(p, v.data(), v.size() * 4, cudaMemcpyHostToDevice));
    return p;
}
static void tell(const test &t, uint64_t h) {
    printf("%-48s a %u %u %u %u %u  b %u %u %u %u %u  %s%s %016llx\n", FORMS[t.form].name, t.a.at, t.a.lead, t.a.stride, t.a.swizzle, t.a.base, t.b.at,
           t.b.lead, t.b.stride, t.b.swizzle, t.b.base, MODE[t.mode], t.adds ? "" : ", alone", (unsigned long long)h);
}
static void run_test(int i) {
    const test &t = tests[i];
    const form &f = FORMS[t.form];
    std::vector<uint32_t> image(IMAGE / 4), a(512), d(f.count * 128);
    inputs(i, image, a, d);
    uint32_t *di = to_device(image), *da = to_device(a), *dd = to_device(d);
    CHECK(cudaFuncSetAttribute(f.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE));
    f.kernel<<<1, 128, IMAGE>>>((const uint4 *)di, da, dd, {descriptor(t.a, 0), descriptor(t.b, B_AT), t.adds});
    CHECK(cudaMemcpy(d.data(), dd, d.size() * 4, cudaMemcpyDeviceToHost));
    tell(t, digest(d.data(), d.size()));
    cudaFree(di), cudaFree(da), cudaFree(dd);
}

int main() {
    plain_layouts();
    for (uint32_t swizzle = 1; swizzle <= 3; swizzle++) swizzled_layouts(swizzle);
    mixed_layouts();
    sums();
    sparse();
    for (int i = 0; i < (int)tests.size(); i++) run_test(i);
    return 0;
}
