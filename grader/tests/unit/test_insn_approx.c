/* test_insn_approx.c — tests the approximate functions at every level of vector instructions:
 * against the bits that an H100 returned, and within the errors that the PTX manual allows,
 * against libm in f64.
 *
 * grader/tests/mufu/h100.bin holds, for each form, 2048 results and digests of all operands
 * (operands.h there). One kernel runs the instruction on operands from memory (`list`), another
 * on blocks of operands, whose digest it computes itself (`digest`). make check compares all
 * results, and the digests of blocks that use every segment of every table; MUFU_ALL=1, which
 * `make check-mufu` sets, compares all digests, which cover every possible operand. */
#include "common/file.h"
#include "grader/sim/code/insn.h"
#include "grader/tests/mufu/operands.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 256, MAX_DIGEST_BLOCKS = 512, DIGEST_GRID = 256 };

/* Operands: f = f32, q = two of them, h = 16 bits, p = a pair of those, d = f64. Blocks: 0xFFTT,
 * from FF to TT, those of positive floats with these exponents. Zero: forms of 16 bits have one
 * block, and pairs are made of these results. */
static const struct form {
    const char *opcode, *recorded;
    char kind;
    unsigned blocks;
} forms[] = {
    {"rcp.approx.f32", "rcp", 'f', 0x7f7f},
    {"rcp.approx.ftz.f32", "rcp_ftz", 'f', 0x7f7f},
    {"rsqrt.approx.f32", "rsqrt", 'f', 0x7f80},
    {"rsqrt.approx.ftz.f32", "rsqrt_ftz", 'f', 0x7f80},
    {"sqrt.approx.f32", "sqrt", 'f', 0x7f80},
    {"sqrt.approx.ftz.f32", "sqrt_ftz", 'f', 0x7f80},
    {"lg2.approx.f32", "lg2", 'f', 0x7f7f},
    {"lg2.approx.ftz.f32", "lg2_ftz", 'f', 0x7f7f},
    {"ex2.approx.f32", "ex2", 'f', 0x7f7f},
    {"ex2.approx.ftz.f32", "ex2_ftz", 'f', 0x7f7f},
    {"sin.approx.f32", "sin", 'f', 0x7f80},
    {"sin.approx.ftz.f32", "sin_ftz", 'f', 0x7f80},
    {"cos.approx.f32", "cos", 'f', 0x7f80},
    {"cos.approx.ftz.f32", "cos_ftz", 'f', 0x7f80},
    {"tanh.approx.f32", "tanh", 'f', 0x7782},
    {"div.approx.f32", "div_approx", 'q', 0x7f7f},
    {"div.approx.ftz.f32", "div_approx_ftz", 'q', 0x7f7f},
    {"div.full.f32", "div_full", 'q', 0x7f7f},
    {"div.full.ftz.f32", "div_full_ftz", 'q', 0x7f7f},
    {"rcp.approx.ftz.f64", "rcp_f64", 'd', 0x7f7f},
    {"rsqrt.approx.ftz.f64", "rsqrt_ftz_f64", 'd', 0x7f7f},
    {"rsqrt.approx.f64", "rsqrt_f64", 'd', 0x7f7f},
    {"ex2.approx.f16", "ex2_f16", 'h', 0},
    {"ex2.approx.ftz.bf16", "ex2_bf16", 'h', 0},
    {"tanh.approx.f16", "tanh_f16", 'h', 0},
    {"tanh.approx.bf16", "tanh_bf16", 'h', 0},
    {"ex2.approx.f16x2", "ex2_f16", 'p', 0},
    {"ex2.approx.ftz.bf16x2", "ex2_bf16", 'p', 0},
    {"tanh.approx.f16x2", "tanh_f16", 'p', 0},
    {"tanh.approx.bf16x2", "tanh_bf16", 'p', 0},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- what the H100 gave ---- */

static struct buf file;

struct record {
    char name[16];
    u32 digests, vectors;
    u32 data[MAX_DIGEST_BLOCKS + MUFU_VECTORS]; /* fewer where there are fewer digests */
};
static const u32 *vectors_of(const struct record *r) { return r->data + r->digests; }
static const struct record *next_record(const struct record *r) {
    return (const void *)(vectors_of(r) + MUFU_VECTORS);
}

static const struct record *recorded(const char *name) {
    struct err e = {0};
    if (!file.size)
        ck_assert_msg(file_read("grader/tests/mufu/h100.bin", 1 << 20, &file, &e), "%s", e.text);
    const struct record *r = (const void *)file.data, *end = (const void *)(file.data + file.size);
    while (r < end && strncmp(r->name, name, sizeof r->name) != 0) r = next_record(r);
    ck_assert_msg(r < end && r->digests <= MAX_DIGEST_BLOCKS && r->vectors == MUFU_VECTORS,
                  "h100.bin holds no %s", name);
    return r;
}

/* ---- the kernels ---- */

/* The instruction: operands in %v and %w, the result's words in %low and %high. */
static void write_instruction(struct buf *b, const struct form *f) {
    switch (f->kind) {
    case 'f':
        buf_printf(b, "mov.b32 %%f1, %%v;\n%s %%f0, %%f1;\nmov.b32 %%low, %%f0;\n", f->opcode);
        break;
    case 'q':
        buf_printf(
            b,
            "mov.b32 %%f1, %%v;\nmov.b32 %%f2, %%w;\n%s %%f0, %%f1, %%f2;\nmov.b32 %%low, %%f0;\n",
            f->opcode);
        break;
    case 'h':
        buf_printf(b, "cvt.u16.u32 %%h1, %%v;\n%s %%h0, %%h1;\ncvt.u32.u16 %%low, %%h0;\n",
                   f->opcode);
        break;
    case 'p': buf_printf(b, "%s %%low, %%v;\n", f->opcode); break;
    default:
        buf_printf(b, "mov.b64 %%d1, {%%w, %%v};\n%s %%d0, %%d1;\nmov.b64 {%%low, %%high}, %%d0;\n",
                   f->opcode);
    }
}

/* mufu_mix, in place; the last shift for the last multiplier. */
static void write_mixing(struct buf *b, const char *r) {
    static const struct {
        unsigned shift;
        const char *factor;
    } steps[] = {{16, "0x7feb352d"}, {15, "0x846ca68b"}, {16, NULL}};
    for (unsigned k = 0; k < 3; k++) {
        buf_printf(b, "shr.u32 %%t, %s, %u;\nxor.b32 %s, %s, %%t;\n", r, steps[k].shift, r, r);
        if (steps[k].factor) buf_printf(b, "mul.lo.u32 %s, %s, %s;\n", r, r, steps[k].factor);
    }
}

static void write_entry(struct buf *b, const char *name, const char *parameters) {
    buf_printf(b,
               ".visible .entry %s(%s) {\n.reg .b32 %%v, %%w, %%low, %%high, %%t, %%i, %%n, %%sum, "
               "%%step;\n"
               ".reg .f32 %%f<4>;\n.reg .f64 %%d<2>;\n.reg .b16 %%h<2>;\n.reg .b64 %%q<4>;\n.reg "
               ".pred %%p;\n"
               "mov.u32 %%i, %%ctaid.x;\nmov.u32 %%t, %%tid.x;\nmad.lo.u32 %%i, %%i, %d, "
               "%%t;\nmov.u32 %%high, 0;\n",
               name, parameters, THREADS);
}

/* results[i] is the result of operands[i]. */
static void write_list(struct buf *b, const struct form *f) {
    write_entry(b, "list", ".param .u64 operands, .param .u64 results");
    buf_puts(
        b, "ld.param.u64 %q1, [operands];\nld.param.u64 %q2, [results];\nmul.wide.u32 %q3, %i, 8;\n"
           "add.u64 %q1, %q1, %q3;\nadd.u64 %q2, %q2, %q3;\nld.global.v2.u32 {%w, %v}, [%q1];\n");
    write_instruction(b, f);
    buf_puts(b, "st.global.v2.u32 [%q2], {%low, %high};\nret;\n}\n");
}

/* sums[i] is the sum of the digests of first + i, first + i + all threads, … */
static void write_digest(struct buf *b, const struct form *f) {
    write_entry(b, "digest", ".param .u64 sums, .param .u32 first, .param .u32 rounds");
    buf_puts(b, "ld.param.u32 %v, [first];\nadd.u32 %v, %v, %i;\nld.param.u32 %n, "
                "[rounds];\nmov.u32 %sum, 0;\n"
                "mov.u32 %step, %nctaid.x;\nmul.lo.u32 %step, %step, 256;\nNEXT:\n");
    if (f->kind == 'q' || f->kind == 'd') {
        buf_puts(b, "xor.b32 %w, %v, 0x9e3779b9;\n");
        write_mixing(b, "%w");
    }
    write_instruction(b, f);
    buf_puts(b, "xor.b32 %high, %high, 0x632be5ab;\n");
    write_mixing(b, "%high");
    buf_puts(
        b, "add.u32 %low, %low, %high;\nmul.lo.u32 %t, %v, 0x9e3779b1;\nadd.u32 %low, %low, %t;\n");
    write_mixing(b, "%low");
    buf_puts(
        b,
        "mov.u32 %high, 0;\nadd.u32 %sum, %sum, %low;\nadd.u32 %v, %v, %step;\nsub.u32 %n, %n, 1;\n"
        "setp.ne.u32 %p, %n, 0;\n@%p bra NEXT;\nld.param.u64 %q1, [sums];\nmul.wide.u32 %q2, %i, "
        "4;\n"
        "add.u64 %q1, %q1, %q2;\nst.global.u32 [%q1], %sum;\nret;\n}\n");
}

static struct kernel_rig open_form(const struct form *f, unsigned workers) {
    struct buf b = {0};
    buf_puts(&b, ".version 8.6\n.target sm_90\n.address_size 64\n");
    write_list(&b, f);
    write_digest(&b, f);
    struct kernel_rig rig = rig_open_with(buf_str(&b), (struct rig_options){.workers = workers});
    buf_free(&b);
    return rig;
}

/* n is a multiple of THREADS. */
static void run_list(struct kernel_rig *rig, const u64 *operands, u64 *results, u32 n) {
    u64 from = sim_alloc(rig->sim, n * 8, "operands"), to = sim_alloc(rig->sim, n * 8, "results"),
        params[] = {from, to};
    sim_write(rig->sim, from, operands, n * 8);
    struct sim_result r = rig_run(rig, "list", n / THREADS, THREADS, params, sizeof params);
    ck_assert_int_eq(r.fault, SIM_FAULT_NONE);
    sim_read(rig->sim, to, results, n * 8);
    sim_result_free(&r);
    sim_free(rig->sim, from);
    sim_free(rig->sim, to);
}

static u32 run_digest(struct kernel_rig *rig, u32 first, u32 n) {
    static u32 sums[DIGEST_GRID * THREADS];
    struct {
        u64 sums;
        u32 first, rounds;
    } params = {sim_alloc(rig->sim, sizeof sums, "sums"), first, n / (DIGEST_GRID * THREADS)};
    struct sim_result r = rig_run(rig, "digest", DIGEST_GRID, THREADS, &params, sizeof params);
    ck_assert_int_eq(r.fault, SIM_FAULT_NONE);
    sim_read(rig->sim, params.sums, sums, sizeof sums);
    sim_result_free(&r);
    sim_free(rig->sim, params.sums);
    u32 sum = 0;
    for (u32 i = 0; i < DIGEST_GRID * THREADS; i++) sum += sums[i];
    return sum;
}

/* ---- the bits of an H100 ---- */

static u64 operand_of(const struct form *f, u32 i) {
    u32 v = mufu_vector(i), w = mufu_second_operand(v);
    switch (f->kind) {
    case 'h': return (u64)(v & 0xffff) << 32;
    case 'p': return (u64)((v & 0xffff) | mufu_vector(MUFU_VECTORS - 1 - i) << 16) << 32;
    default: return (u64)v << 32 | w;
    }
}
static u32 expected_bits(const struct form *f, const u32 *vectors, u32 i) {
    return f->kind == 'p' ? vectors[i] | vectors[MUFU_VECTORS - 1 - i] << 16 : vectors[i];
}

START_TEST(approximate_results_match_an_h100) {
    static u64 operands[MUFU_VECTORS], results[MUFU_VECTORS];
    const struct form *f = &forms[_i];
    const u32 *vectors = vectors_of(recorded(f->recorded));
    for (u32 i = 0; i < MUFU_VECTORS; i++) operands[i] = operand_of(f, i);
    for (unsigned level = 1; lanes_level_table(level); level++) {
        lanes_force_level(level);
        struct kernel_rig rig = open_form(f, 1);
        run_list(&rig, operands, results, MUFU_VECTORS);
        for (u32 i = 0; i < MUFU_VECTORS; i++) {
            u32 actual = (u32)results[i] ^ (u32)(results[i] >> 32),
                expected = expected_bits(f, vectors, i);
            ck_assert_msg(actual == expected,
                          "%s at level %s: operand %08x, second %08x: %08x, but an H100 gave %08x",
                          f->opcode, lanes_level_name(level), (u32)(operands[i] >> 32),
                          (u32)operands[i], actual, expected);
        }
        rig_close(&rig);
    }
    lanes_force_level(0);
}
END_TEST

static bool all_blocks(void) { return getenv("MUFU_ALL") != NULL; }

START_TEST(digests_of_approximate_results_match_an_h100) {
    const struct form *f = &forms[_i];
    const struct record *r = recorded(f->recorded);
    if (f->kind == 'p') return; /* a pair's digest was not recorded: its halves were */
    u32 n = r->digests == 1 ? 1u << 16 : 1u << MUFU_BLOCK_BITS;
    u32 from = all_blocks() ? 0 : f->blocks >> 8,
        to = all_blocks() ? r->digests - 1 : f->blocks & 255;
    struct kernel_rig rig =
        open_form(f, all_blocks() ? (unsigned)sysconf(_SC_NPROCESSORS_ONLN) : 1);
    for (u32 block = from; block <= to; block++)
        ck_assert_msg(run_digest(&rig, block << MUFU_BLOCK_BITS, n) == r->data[block],
                      "%s: of the operands from %08x on some give other bits than on an H100",
                      f->opcode, block << MUFU_BLOCK_BITS);
    rig_close(&rig);
}
END_TEST

/* ---- the errors that the manual states ---- */

static double root_reciprocal(double v) { return 1 / sqrt(v); }
static double reciprocal(double v) { return 1 / v; }

/* PTX ISA, at each instruction. log2 of the largest error allowed: relative, or absolute where
 * there is no relative one, and of operands between 0.5 and 2 where both are given. Of cosines up
 * to 2π the manual has 2^-20.5: an H100 exceeds it, by 2^-20.43 at 0x409ccdb6. */
static const struct bound {
    struct form form;
    double (*exact)(double);   /* NULL: a quotient */
    double relative, absolute; /* 0 = none */
    double low, high;          /* operands, divisors, for which it holds */
} bounds[] = {
    {{"ex2.approx.f32", "", 'f', 0}, exp2, -22, 0, -126, 127.9},
    {{"lg2.approx.f32", "", 'f', 0}, log2, -22, -22, 0x1p-149, 0x1.fffffep127},
    {{"sin.approx.f32", "", 'f', 0}, sin, 0, -20.5, -6.2831853, 6.2831853},
    {{"cos.approx.f32", "", 'f', 0}, cos, 0, -20.42, -6.2831853, 6.2831853},
    {{"sin.approx.f32", "", 'f', 0}, sin, 0, -14.7, -314.15926, 314.15926},
    {{"cos.approx.f32", "", 'f', 0}, cos, 0, -14.7, -314.15926, 314.15926},
    {{"rsqrt.approx.f32", "", 'f', 0}, root_reciprocal, -22.9, 0, 0x1p-149, 0x1.fffffep127},
    {{"sqrt.approx.f32", "", 'f', 0}, sqrt, -23, 0, 0x1p-149, 0x1.fffffep127},
    {{"rcp.approx.f32", "", 'f', 0}, reciprocal, -23, 0, 0x1p-126, 0x1p126},
    {{"tanh.approx.f32", "", 'f', 0}, tanh, -11, 0, -80, 80},
    {{"div.approx.f32", "", 'q', 0}, NULL, -22, 0, 0x1p-126, 0x1p126},
    {{"div.full.f32", "", 'q', 0}, NULL, -22, 0, 0x1p-126, 0x1.fffffep127},
};

static float float_of(u32 bits) {
    float v;
    memcpy(&v, &bits, 4);
    return v;
}

/* Operands: bits spread over all floats by an odd multiplier, or, where the bounds hold for a
 * narrow range only, half of them within it. Divisors are the second ones. */
static u64 operand_within(const struct bound *b, u32 n) {
    u32 v = n * 2654435761u + 12345u;
    float inside = (float)(b->low + (b->high - b->low) * (n * 2654435761u >> 8) * 0x1p-24);
    if ((n & 1) && b->high < 1000) memcpy(&v, &inside, 4);
    return (u64)v << 32 | mufu_second_operand(v);
}

static void check_value(const struct bound *b, u64 operands, float actual) {
    double first = float_of((u32)(operands >> 32)), second = float_of((u32)operands);
    double operand = b->exact ? first : second,
           expected = b->exact ? b->exact(first) : first / second;
    if (!(operand >= b->low && operand <= b->high) || operand == 0) return;
    if (!b->exact && !(fabs(expected) >= 0x1p-126 && fabs(expected) < 0x1p127))
        return; /* 2 ulp of normal results */
    bool absolute = b->absolute < 0 && (b->relative == 0 || (operand > 0.5 && operand < 2));
    double error = fabs(actual - expected),
           allowed = absolute ? exp2(b->absolute) : exp2(b->relative) * fabs(expected);
    ck_assert_msg(error <= allowed, "%s of %a, %a gives %a, not %a: an error of 2^%.1f",
                  b->form.opcode, first, second, (double)actual, expected,
                  log2(absolute ? error : error / fabs(expected)));
}

START_TEST(errors_stay_within_the_documented_bounds) {
    enum { SAMPLE = 1 << 16 };
    static u64 operands[SAMPLE], results[SAMPLE];
    const struct bound *b = &bounds[_i];
    struct kernel_rig rig = open_form(&b->form, 1);
    for (u32 i = 0; i < SAMPLE; i++) operands[i] = operand_within(b, i);
    run_list(&rig, operands, results, SAMPLE);
    for (u32 i = 0; i < SAMPLE; i++) check_value(b, operands[i], float_of((u32)results[i]));
    rig_close(&rig);
}
END_TEST

UNIT_SUITE(insn_approx) {
    Suite *suite = suite_create("insn_approx");
    TCase *tc = tcase_create("approximations");
    tcase_set_timeout(tc, all_blocks() ? 7200 : 60);
    tcase_add_loop_test(tc, approximate_results_match_an_h100, 0, FORMS);
    tcase_add_loop_test(tc, digests_of_approximate_results_match_an_h100, 0, FORMS);
    tcase_add_loop_test(tc, errors_stay_within_the_documented_bounds, 0,
                        sizeof bounds / sizeof *bounds);
    suite_add_tcase(suite, tc);
    return suite;
}
