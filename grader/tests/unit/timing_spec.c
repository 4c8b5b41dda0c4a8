/* timing_spec.c — implements timing_spec.h. */
#include "grader/tests/unit/timing_spec.h"

#include "grader/sim/sass/sass.h"

#include <stdarg.h>
#include <stdlib.h>

void spec_add(struct kernel_spec *s, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    buf_vprintf(&s->body, format, ap);
    va_end(ap);
}

static void begin_listing(struct kernel_spec *s) {
    if (!s->listing.size)
        buf_puts(&s->listing, "\t.section\t.text.k,\"ax\",@progbits\nk:\n.text.k:\n");
}

void spec_code(struct kernel_spec *s, unsigned line, const char *text, unsigned stall,
               unsigned release, unsigned wait) {
    begin_listing(s);
    uint64_t control = stall | release << 5 | 7 << 8 | wait << 11;
    buf_printf(&s->listing,
               "\t//## File \".nv_debug_ptx_txt\", line %u\n        /*0000*/   %s ;   /* 0x0 */\n  "
               "    /* 0x%016llx */\n",
               line, text, (unsigned long long)(control << 41));
}

void spec_label(struct kernel_spec *s, const char *label) {
    begin_listing(s);
    buf_printf(&s->listing, "%s:\n", label);
}

static void make_ptx(const struct kernel_spec *s, struct buf *ptx) {
    buf_puts(
        ptx,
        ".version 8.0\n.target sm_75\n.address_size 64\n.extern .shared .align 16 .b8 mem[];\n");
    if (s->functions) buf_puts(ptx, s->functions);
    buf_puts(ptx, ".visible .entry k(.param .u64 p, .param .u32 n) {\n"
                  ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .f32 %f<99>; .reg .b64 %d<99>; .reg "
                  ".f64 %e<40>;\n"
                  "ld.param.u64 %d0, [p];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 "
                  "%r2, %ctaid.x;\n"
                  "mov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;\nand.b32 %r5, %r1, "
                  "31;\nshr.u32 %r6, %r1, 5;\n"
                  "mov.u32 %r7, mem;\n");
    if (s->prologue) buf_puts(ptx, s->prologue);
    buf_puts(ptx, "mov.u32 %r8, 0;\nLOOP:\n");
    buf_puts(ptx, buf_str(&s->body));
    buf_puts(ptx, "add.s32 %r8, %r8, 1;\nsetp.lt.s32 %p0, %r8, %r0;\n@%p0 bra LOOP;\nret;\n}\n");
}

struct time_estimate spec_model_with(const struct kernel_spec *s, unsigned disabled_terms,
                                     unsigned workers) {
    struct err e = {0};
    struct buf ptx = {0};
    struct sim_options so = {.device = device_find(s->device ? s->device : "h200"),
                             .workers = workers,
                             .sample_key = s->sample_key};
    struct sim *sim = sim_open(&so, &e);
    make_ptx(s, &ptx);
    struct sim_module *m = sim_load(sim, ptx.data, ptx.size, &e);
    ck_assert_msg(m != NULL, "%s\n%s", e.text, buf_str(&ptx));
    struct {
        uint64_t p;
        uint32_t n;
    } params = {sim_alloc(sim, s->bytes ? s->bytes : 4096, "p"), s->n};
    sim_fill(sim, params.p, 0, s->bytes ? s->bytes : 4096);
    struct sim_launch l = {.kernel = sim_find_kernel(m, "k"),
                           .grid = {s->blocks, 1, 1},
                           .block = {s->threads, 1, 1},
                           .dynamic_shared = s->dynamic_shared,
                           .cooperative = s->cooperative,
                           .params = &params,
                           .param_bytes = 12};
    if (s->cluster) l.cluster_dims[0] = s->cluster, l.cluster_dims[1] = l.cluster_dims[2] = 1;
    sim_set_registers(l.kernel, 32, s->spill_bytes);
    struct sass_insn *code = NULL;
    uint32_t ncode = 0;
    if (s->listing.size)
        ck_assert_msg(sass_parse(s->listing.data, s->listing.size, &code, &ncode, &e), "%s",
                      e.text);
    sim_set_machine_code(l.kernel, code, ncode);
    struct sim_result r;
    struct time_estimate t;
    struct time_options o = {.disabled_terms = disabled_terms,
                             .warm_l2 = s->warm,
                             .full_grid = s->full_grid,
                             .prior_dram_bytes = s->warm_bytes};
    bool ok = time_launch(sim, &l, &o, &r, &t);
    ck_assert_msg(ok, "%s", r.nreports ? r.reports[0].text : "no estimate");
    sim_result_free(&r);
    sim_close(sim);
    buf_free(&ptx);
    free(code);
    return t;
}

struct time_estimate spec_model(const struct kernel_spec *s) {
    return spec_model_with(s, 0, 0);
}

double spec_cycles_disabling(const struct kernel_spec *s, unsigned disabled_terms) {
    const struct gpu_device *d = device_find(s->device ? s->device : "h200");
    return (spec_model_with(s, disabled_terms, 0).seconds - d->launch_seconds) * d->clock_hz;
}
double spec_cycles(const struct kernel_spec *s) { return spec_cycles_disabling(s, 0); }

struct kernel_spec fma_spec(unsigned chains, unsigned threads) {
    struct kernel_spec s = {.blocks = SMS, .threads = threads, .n = 50};
    for (unsigned i = 0; i < 64; i++)
        spec_add(&s, "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n", i % chains, i % chains);
    return s;
}

struct kernel_spec shared_spec(unsigned stride) {
    struct kernel_spec s = {.blocks = SMS, .threads = 512, .n = 20, .dynamic_shared = 8192};
    spec_add(&s, "mad.lo.u32 %%r20, %%r5, %u, %%r7;\n", stride);
    for (unsigned i = 0; i < 16; i++)
        spec_add(&s, "ld.shared.u32 %%r%u, [%%r20+%u];\n", 30 + i, i * 32);
    return s;
}

struct kernel_spec l1_spec(unsigned stride) {
    struct kernel_spec s = {.blocks = SMS, .threads = 512, .n = 20, .bytes = 1 << 16};
    spec_add(&s, "mul.wide.u32 %%d10, %%r5, %u;\nadd.s64 %%d11, %%d0, %%d10;\n", stride);
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "ld.global.u32 %%r%u, [%%d11+%u];\n", 30 + i, 4 * i);
    return s;
}

struct kernel_spec stream_spec(const char *device, unsigned blocks) {
    struct kernel_spec s = {
        .device = device, .blocks = blocks, .threads = 256, .n = 1, .bytes = blocks * 256ull * 16};
    spec_add(&s, "mul.wide.u32 %%d10, %%r4, 16;\nadd.s64 %%d11, %%d0, %%d10;\nld.global.v4.u32 "
                 "{%%r30, %%r31, "
                 "%%r32, %%r33}, [%%d11];\n"
                 "add.s32 %%r34, %%r30, %%r31;\n");
    return s;
}
