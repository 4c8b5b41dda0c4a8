/* insn_programs.c — runs the programs of insn_programs_*.c, and compares every atomic operation
 * with a plain loop. */
#include "grader/tests/unit/insn_programs.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { OUTPUT_WORDS = 8, SCRATCH_BYTES = 4096, MAX_THREADS = 256 };

static const char head[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".const .align 4 .b32 table[16] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, "
    "140, 150};\n"
    ".func (.param .b32 result) twice(.param .b32 value) {\n.reg .b32 %r<4>;\n"
    "ld.param.u32 %r1, [value];\nadd.u32 %r2, %r1, %r1;\nst.param.b32 [result], %r2;\nret;\n}\n"
    /* factorial, each level with a local variable of its own */
    ".func (.param .b32 result) factorial(.param .b32 value) {\n.reg .b32 %r<8>;\n.reg .b64 "
    "%q<4>;\n.reg .pred %p;\n"
    ".local .align 4 .b8 mine[4];\nld.param.u32 %r1, [value];\nmov.u64 %q1, mine;\nst.local.u32 "
    "[%q1], %r1;\n"
    "setp.gt.u32 %p, %r1, 1;\n@%p bra deeper;\nst.param.b32 [result], 1;\nret;\ndeeper:\nsub.u32 "
    "%r2, %r1, 1;\n"
    "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r2;\ncall (b), factorial, "
    "(a);\nld.param.b32 %r3, [b];\n}\n"
    "ld.local.u32 %r4, [%q1];\nmul.lo.u32 %r5, %r3, %r4;\nst.param.b32 [result], %r5;\nret;\n}\n";

static void open_kernel(struct buf *b, const char *name) {
    buf_printf(b,
               ".visible .entry %s(.param .u64 out, .param .u64 scratch, .param .align 8 .b8 "
               "block[16]) {\n"
               ".reg .pred %%p<32>; .reg .b16 %%h<32>; .reg .b32 %%r<32>; .reg .b64 %%q<32>; .reg "
               ".f32 %%f<32>; .reg "
               ".f64 %%d<32>;\n"
               ".reg .b128 %%o<32>;\n.shared .align 128 .b8 s[%d];\n.local .align 16 .b8 l[256];\n"
               "mov.u32 %%r0, %%tid.x;\nld.param.u64 %%q0, [out];\nld.param.u64 %%q1, "
               "[scratch];\nmad.wide.u32 %%q0, "
               "%%r0, %d, %%q0;\n",
               name, SCRATCH_BYTES, OUTPUT_WORDS * 8);
}

/* TEXTURE, then SURFACE (insn_programs.h): the scratch as 32 rows of 32 floats. */
static void make_objects(struct sim *s, u64 scratch) {
    struct sim_texture t = {.address = scratch,
                            .pitch = 128,
                            .width = 32,
                            .height = 32,
                            .depth = 1,
                            .shape = SIM_TEX_2D,
                            .channels = 1,
                            .channel_bits = 32,
                            .texel_kind = SIM_TEX_FLOAT,
                            .address_modes = {SIM_TEX_CLAMP, SIM_TEX_CLAMP, SIM_TEX_CLAMP}};
    ck_assert_uint_eq(sim_texture_create(s, &t), 0x240000000040);
    t.is_surface = true;
    ck_assert_uint_eq(sim_texture_create(s, &t), 0x240000000080);
}

static struct sim_result launch(struct kernel_rig *rig, const char *name, unsigned threads,
                                u64 *out, u64 *scratch_remaining) {
    u64 results = sim_alloc(rig->sim, MAX_THREADS * OUTPUT_WORDS * 8, "out"),
        scratch = sim_alloc(rig->sim, SCRATCH_BYTES, "scratch");
    sim_fill(rig->sim, results, 0, MAX_THREADS * OUTPUT_WORDS * 8);
    sim_fill(rig->sim, scratch, 0, SCRATCH_BYTES);
    u64 params[] = {results, scratch, 0x1122334455667788, 0x99aabbccddeeff00};
    make_objects(rig->sim, scratch);
    struct sim_result r = rig_run(rig, name, 1, threads, params, sizeof params);
    sim_read(rig->sim, results, out, MAX_THREADS * OUTPUT_WORDS * 8);
    if (scratch_remaining) sim_read(rig->sim, scratch, scratch_remaining, SCRATCH_BYTES);
    sim_free(rig->sim, results);
    sim_free(rig->sim, scratch);
    return r;
}

static void check(const struct insn_program *p, const struct sim_result *r, const u64 *out) {
    ck_assert_msg(r->fault == p->fault, "%s ends with %s, not %s: %s", p->name,
                  sim_fault_name(r->fault), sim_fault_name(p->fault),
                  r->nreports ? r->reports[0].text : "");
    if (p->fault) return;
    ck_assert_msg(r->nreports == 0, "%s: %s", p->name, r->reports[0].text);
    for (unsigned t = 0; t < p->threads; t++)
        for (unsigned w = 0; w < p->words; w++)
            ck_assert_msg(out[t * OUTPUT_WORDS + w] == p->expected(t, w),
                          "%s: thread %u leaves %llx in word %u, not %llx", p->name, t,
                          (unsigned long long)out[t * OUTPUT_WORDS + w], w,
                          (unsigned long long)p->expected(t, w));
}

static void run_programs(const struct insn_program *list) {
    static u64 out[MAX_THREADS * OUTPUT_WORDS];
    for (const struct insn_program *p = list; p->name; p++) {
        struct buf b = {0};
        buf_puts(&b, head);
        open_kernel(&b, "program");
        buf_printf(&b, "%s\nret;\n}\n", p->body);
        struct kernel_rig rig = rig_open_with(buf_str(&b), (struct rig_options){.sanitize = true});
        struct sim_result r = launch(&rig, "program", p->threads, out, NULL);
        check(p, &r, out);
        sim_result_free(&r);
        rig_close(&rig);
        buf_free(&b);
    }
}

/* ---- atomics: 32 lanes on one place, in lane order ---- */

static const char *const integer_ops[] = {"add", "min",  "max", "and", "or",
                                          "xor", "exch", "cas", "inc", "dec"};
enum { OP_ADD, OP_MIN, OP_MAX, OP_AND, OP_OR, OP_XOR, OP_EXCH, OP_CAS, OP_INC, OP_DEC, OPS };

static u64 low_bits(u64 v, unsigned bits) { return bits == 64 ? v : v & ((1ull << bits) - 1); }
static s64 sign_extended(u64 v, unsigned bits) { return (s64)(v << (64 - bits)) >> (64 - bits); }

static u64 atomic_result(unsigned op, bool is_signed, unsigned bits, u64 a, u64 b, u64 c) {
    bool less = is_signed ? sign_extended(a, bits) < sign_extended(b, bits) : a < b;
    switch (op) {
    case OP_ADD: return low_bits(a + b, bits);
    case OP_MIN: return less ? a : b;
    case OP_MAX: return less ? b : a;
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    case OP_EXCH: return b;
    case OP_CAS: return a == b ? c : a;
    case OP_INC: return a >= b ? 0 : a + 1;
    default: return a == 0 || a > b ? b : a - 1;
    }
}

/* What lane t brings: numbers with high bits, so that signs matter; for cas, half of the lanes
 * match. */
static u64 atomic_operand(unsigned op, unsigned t, unsigned bits) {
    if (op == OP_CAS) return t & 1 ? 0 : t / 2;
    if (op == OP_INC || op == OP_DEC) return 5;
    return low_bits(t * 0x9e3779b97f4a7c15ull, bits);
}

static void write_atomic(struct buf *b, const char *name, const char *op, const char *type,
                         unsigned bits, bool shared, bool reads) {
    char c = bits == 64 ? 'q' : bits == 32 ? 'r' : 'h';
    bool cas = strcmp(op, "cas") == 0, counting = strcmp(op, "inc") == 0 || strcmp(op, "dec") == 0;
    open_kernel(b, name);
    buf_printf(
        b, "mul.wide.u32 %%q2, %%r0, 1;\n%s",
        cas ? "shr.u64 %q4, %q2, 1;\nand.b64 %q5, %q2, 1;\nsub.u64 %q5, %q5, 1;\nand.b64 %q3, %q4, "
              "%q5;\nadd.u64 %q4, %q4, 1;\n"
        : counting ? "mov.u64 %q3, 5;\n"
                   : "mul.lo.u64 %q3, %q2, 0x9e3779b97f4a7c15;\n");
    if (c == 'r') buf_puts(b, "cvt.u32.u64 %r3, %q3;\ncvt.u32.u64 %r4, %q4;\n" + (cas ? 0 : 0));
    if (c == 'h') buf_puts(b, "cvt.u16.u64 %h3, %q3;\ncvt.u16.u64 %h4, %q4;\n");
    if (shared)
        buf_puts(b, "setp.eq.u32 %p1, %r0, 0;\nmov.u64 %q6, 0;\n@%p1 st.shared.u64 [s], "
                    "%q6;\nbar.sync 0;\n");
    const char *address = shared ? "[s]" : "[%q1]", *space = shared ? "shared" : "global";
    if (reads) buf_printf(b, "atom.%s.%s.%s %%%c5, %s, %%%c3", space, op, type, c, address, c);
    else buf_printf(b, "red.%s.%s.%s %s, %%%c3", space, op, type, address, c);
    if (cas) buf_printf(b, ", %%%c4", c);
    buf_puts(b, ";\n");
    if (reads)
        buf_printf(b, "%s st.global.u64 [%%q0], %%q5;\n",
                   c == 'r'   ? "cvt.u64.u32 %q5, %r5;"
                   : c == 'h' ? "cvt.u64.u16 %q5, %h5;"
                              : "");
    if (shared)
        buf_puts(b, "bar.sync 0;\n@%p1 ld.shared.u64 %q7, [s];\n@%p1 st.global.u64 [%q1], %q7;\n");
    buf_puts(b, "ret;\n}\n");
}

static void run_atomic(unsigned op, const char *type, unsigned bits, bool shared, bool reads) {
    static u64 out[MAX_THREADS * OUTPUT_WORDS], remaining[SCRATCH_BYTES / 8];
    struct buf b = {0};
    buf_puts(&b, head);
    write_atomic(&b, "atomics", integer_ops[op], type, bits, shared, reads);
    struct kernel_rig rig = rig_open_with(buf_str(&b), (struct rig_options){.sanitize = true});
    struct sim_result r = launch(&rig, "atomics", 32, out, remaining);
    ck_assert_msg(r.fault == SIM_FAULT_NONE && r.nreports == 0, "%s.%s: %s", integer_ops[op], type,
                  r.reports[0].text);
    u64 v = 0;
    for (unsigned t = 0; t < 32; t++) {
        if (reads)
            ck_assert_msg(out[t * OUTPUT_WORDS] == v, "atom.%s.%s: lane %u finds %llx, not %llx",
                          integer_ops[op], type, t, (unsigned long long)out[t * OUTPUT_WORDS],
                          (unsigned long long)v);
        v = atomic_result(op, type[0] == 's', bits, v, atomic_operand(op, t, bits), t / 2 + 1);
    }
    ck_assert_msg(low_bits(remaining[0], bits) == v, "%s.%s leaves %llx, not %llx", integer_ops[op],
                  type, (unsigned long long)remaining[0], (unsigned long long)v);
    sim_result_free(&r);
    rig_close(&rig);
    buf_free(&b);
}

static void run_atomics(void) {
    static const struct {
        const char *type;
        unsigned bits;
        const char *ops;
    } kinds[] = {
        {"u32", 32, "add min max inc dec"},
        {"s32", 32, "add min max"},
        {"b32", 32, "and or xor exch cas"},
        {"u64", 64, "add min max"},
        {"s64", 64, "min max"},
        {"b64", 64, "and or xor exch cas"},
        {"b16", 16, "cas"},
    };
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned op = 0; op < OPS; op++)
            for (unsigned type_index = 0; type_index < 4; type_index++) {
                bool reads = type_index & 1, exists = strstr(kinds[k].ops, integer_ops[op]) &&
                                                      (reads || op < OP_EXCH || op > OP_CAS);
                if (exists) run_atomic(op, kinds[k].type, kinds[k].bits, type_index & 2, reads);
            }
}

void insn_programs_run(void) {
    run_programs(memory_programs);
    run_programs(control_programs);
    run_programs(warp_programs);
    run_programs(async_programs);
    run_atomics();
}
