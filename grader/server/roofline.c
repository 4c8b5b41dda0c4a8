/* roofline.c — measures a GPU's ceilings; see roofline.h. The kernels are PTX, so no compiler is
 * needed. The copy kernel moves 16 bytes per thread and step, over more memory than any L2 holds.
 * The FMA kernel runs sixteen independent chains in every thread of a full device. The best of
 * several runs counts, because a ceiling is the maximum, not the average. */
#include "grader/server/roofline.h"
#include "common/buf.h"
#include "grader/server/backend_gpu.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 256, FMA_ITERATIONS = 4096, CHAINS = 16, RUNS = 8 };

#define PTX_HEADER ".version 7.0\n.target sm_70\n.address_size 64\n"
static const char copy_ptx[] = PTX_HEADER
    ".visible .entry wb_copy(.param .u64 to, .param .u64 from, .param .u64 n) {\n"
    ".reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<10>;\n"
    "ld.param.u64 %d0, [to];\nld.param.u64 %d1, [from];\nld.param.u64 %d2, [n];\n"
    "cvta.to.global.u64 %d0, %d0;\ncvta.to.global.u64 %d1, %d1;\n"
    "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %nctaid.x;\n"
    "mul.wide.u32 %d3, %r0, %r1;\ncvt.u64.u32 %d4, %r2;\nadd.s64 %d3, %d3, %d4;\nmul.wide.u32 %d5, "
    "%r3, "
    "%r1;\n"
    "LOOP:\nsetp.ge.u64 %p, %d3, %d2;\n@%p bra END;\nshl.b64 %d6, %d3, 4;\nadd.s64 %d7, %d1, "
    "%d6;\nadd.s64 %d8, %d0, %d6;\n"
    "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d7];\nst.global.v4.u32 [%d8], {%r4, %r5, %r6, %r7};\n"
    "add.s64 %d3, %d3, %d5;\nbra LOOP;\nEND:\nret;\n}\n";

static void fma_ptx(struct buf *out) {
    buf_puts(out, PTX_HEADER ".visible .entry wb_fma(.param .u64 to, .param .u32 n) {\n"
                             ".reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<20>; .reg .b64 %d<3>;\n"
                             "ld.param.u64 %d0, [to];\nld.param.u32 %r0, [n];\nmov.u32 %r1, "
                             "%tid.x;\ncvt.rn.f32.u32 %f16, %r1;\n"
                             "mov.f32 %f17, 0f3F7FFFFE;\n");
    for (unsigned i = 0; i < CHAINS; i++)
        buf_printf(out, "add.f32 %%f%u, %%f16, 0f%08X;\n", i, 0x3f800000u + i * 0x800u);
    buf_puts(out, "mov.u32 %r2, 0;\nLOOP:\n");
    for (unsigned k = 0; k < 4; k++)
        for (unsigned i = 0; i < CHAINS; i++)
            buf_printf(out, "fma.rn.f32 %%f%u, %%f%u, %%f17, %%f16;\n", i, i);
    buf_puts(out, "add.s32 %r2, %r2, 4;\nsetp.lt.u32 %p, %r2, %r0;\n@%p bra LOOP;\n");
    for (unsigned i = 1; i < CHAINS; i++) buf_printf(out, "add.f32 %%f0, %%f0, %%f%u;\n", i);
    /* Never true, but the compiler does not know: the sums must be computed. */
    buf_puts(out, "setp.eq.f32 %p, %f0, 0f4B3C614E;\n@!%p bra END;\ncvta.to.global.u64 %d0, "
                  "%d0;\nst.global.f32 [%d0], %f0;\nEND:\nret;\n}\n");
}

static bool min_time(struct backend *b, const struct backend_launch *l, double *seconds,
                     struct err *e) {
    *seconds = 1e9;
    for (unsigned i = 0; i < RUNS; i++) {
        int error = 0;
        struct backend_result r;
        if (!backend_gpu_begin_timed(b, e)) return false;
        b->ops->launch(b, l, &r);
        double s = backend_gpu_end_timed(b, &error);
        if (r.error || error)
            return err_set(e, ERR_SYSTEM, "the roofline kernel failed with error %d",
                           r.error ? r.error : error);
        if (i && s > 0 && s < *seconds) *seconds = s; /* the first warms up */
    }
    return *seconds < 1e9 || err_set(e, ERR_SYSTEM, "the roofline kernel took no time");
}

static bool find(struct backend *b, const char *ptx, size_t n, const char *name,
                 struct backend_kernel *k, void **module, struct err *e) {
    if (b->ops->load(b, ptx, n, module, e)) return false;
    return b->ops->find_kernel(b, *module, name, k) ||
           err_set(e, ERR_INTERNAL, "kernel %s is missing", name);
}

static bool measure_copy(struct backend *b, struct roofline *out, struct err *e) {
    uint64_t bytes = b->memory_bytes / 4 < 1ull << 30 ? b->memory_bytes / 4 : 1ull << 30;
    bytes = bytes / 4096 * 4096;
    uint64_t to = b->ops->alloc(b, bytes, "to"), from = b->ops->alloc(b, bytes, "from");
    struct {
        uint64_t lowering, from, n;
    } params = {to, from, bytes / 16};
    struct backend_kernel k;
    void *module;
    if (!to || !from) return err_set(e, ERR_LIMIT, "no device memory for the copy");
    if (!find(b, copy_ptx, sizeof copy_ptx - 1, "wb_copy", &k, &module, e)) return false;
    struct backend_launch l = {.kernel = k.handle,
                               .grid = {b->device->sms * 16, 1, 1},
                               .block = {THREADS, 1, 1},
                               .params = &params,
                               .param_bytes = 24};
    double seconds;
    bool ok = b->ops->fill(b, from, 1, bytes) && min_time(b, &l, &seconds, e);
    if (ok) out->bytes_per_second = 2.0 * (double)bytes / seconds;
    b->ops->free(b, from), b->ops->free(b, to);
    b->ops->unload(b, module);
    return ok;
}

static bool measure_fma(struct backend *b, struct roofline *out, struct err *e) {
    struct buf ptx = {0};
    struct backend_kernel k;
    void *module;
    struct {
        uint64_t lowering;
        uint32_t n;
    } params = {b->ops->alloc(b, 4, "to"), FMA_ITERATIONS};
    fma_ptx(&ptx);
    bool ok = find(b, ptx.data, ptx.size, "wb_fma", &k, &module, e);
    buf_free(&ptx);
    if (!ok) return false;
    struct backend_launch l = {.kernel = k.handle,
                               .grid = {b->device->sms * 16, 1, 1},
                               .block = {THREADS, 1, 1},
                               .params = &params,
                               .param_bytes = 12};
    double seconds;
    ok = min_time(b, &l, &seconds, e);
    if (ok) out->flops_per_second = 2.0 * CHAINS * FMA_ITERATIONS * THREADS * l.grid[0] / seconds;
    b->ops->free(b, params.lowering);
    b->ops->unload(b, module);
    return ok;
}

bool roofline_measure(struct backend *b, struct roofline *out, struct err *e) {
    *out = (struct roofline){0};
    return measure_copy(b, out, e) && measure_fma(b, out, e);
}
