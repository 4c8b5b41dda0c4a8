/* test_fma_contraction.c — tests which products are contracted into the sums that use them. Each
 * case's expectation was read off the machine code that ptxas 13.0 makes of the same PTX for
 * sm_90.
 *
 * The values are such that a rounded product, 1 + 2e of (1 + e)², differs from the exact one by
 * e²: a result shows which product was not rounded. In a case, %a and %b are 1 + e, %c is 1 +
 * 2e, %d is -%a, %e is -%c. Results are in units of e². */
#include "grader/sim/device.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { MAX_RESULTS = 4 };

static const struct fma_case {
    const char *name, *body;
    int expected[MAX_RESULTS];
    unsigned flops; /* instructions that compute: FADD, FMUL and FFMA in machine code */
} cases[] = {
    {"difference", "mul.f32 %m,%a,%b;\nsub.f32 %r,%m,%c;", {1}, 1},
    {"from", "mul.f32 %m,%a,%b;\nsub.f32 %r,%c,%m;", {-1}, 1},
    {"sum", "mul.f32 %m,%a,%b;\nadd.f32 %r,%m,%e;", {1}, 1},
    {"constant", "mul.f32 %m,%a,0f3F800800;\nsub.f32 %r,%m,0f3F801000;", {1}, 1},
    {"kept",
     "mul.f32 %m,%a,%b;\nsub.f32 %r,%m,%c;\nmov.f32 %s,%m;\nsub.rn.f32 %s,%s,%c;",
     {0, 0},
     3},
    {"two sums", "mul.f32 %m,%a,%b;\nsub.f32 %r,%m,%c;\nsub.f32 %s,%c,%m;", {1, -1}, 2},
    {"two products", "mul.f32 %m,%a,%b;\nmul.f32 %k,%a,%b;\nsub.f32 %r,%m,%k;", {1}, 2},
    {"the other way", "mul.f32 %m,%a,%b;\nmul.f32 %k,%a,%b;\nsub.f32 %r,%k,%m;", {1}, 2},
    {"products added", "mul.f32 %m,%a,%b;\nmul.f32 %k,%a,%d;\nadd.f32 %r,%k,%m;", {-1}, 2},
    {"first is kept",
     "mul.f32 %m,%a,%b;\nmul.f32 %k,%a,%b;\nsub.f32 %r,%m,%k;\nmov.f32 %s,%m;\nsub.rn.f32 "
     "%s,%s,%c;",
     {-1, 0},
     3},
    {"second is kept",
     "mul.f32 %m,%a,%b;\nmul.f32 %k,%a,%b;\nsub.f32 %r,%m,%k;\nmov.f32 %s,%k;\nsub.rn.f32 "
     "%s,%s,%c;",
     {1, 0},
     3},
    {"first has two",
     "mul.f32 %m,%a,%b;\nmul.f32 %k,%a,%b;\nsub.f32 %r,%m,%k;\nsub.f32 %s,%m,%c;",
     {-1, 0},
     3},
    {"second has two",
     "mul.f32 %m,%a,%b;\nmul.f32 %k,%a,%b;\nsub.f32 %r,%m,%k;\nsub.f32 %s,%k,%c;",
     {1, 0},
     3},
    {"both have two",
     "mul.f32 %m,%a,%b;\nmul.f32 %k,%a,%b;\nsub.f32 %r,%m,%k;\nsub.f32 %s,%m,%c;\nsub.f32 "
     "%t,%k,%c;",
     {1, 1, 0},
     4},
    {"doubled",
     "mul.f32 %m,%a,%b;\nadd.f32 %k,%m,%m;\nsub.rn.f32 %k,%k,%c;\nsub.rn.f32 %r,%k,%c;",
     {0},
     4},
    {"names rounding", "mul.rn.f32 %m,%a,%b;\nsub.f32 %r,%m,%c;", {0}, 2},
    {"sum names it", "mul.f32 %m,%a,%b;\nsub.rn.f32 %r,%m,%c;", {0}, 2},
    {"flushes", "mul.ftz.f32 %m,%a,%b;\nsub.ftz.f32 %r,%m,%c;", {1}, 1},
    {"product flushes", "mul.ftz.f32 %m,%a,%b;\nsub.f32 %r,%m,%c;", {0}, 2},
    {"sum flushes", "mul.f32 %m,%a,%b;\nsub.ftz.f32 %r,%m,%c;", {0}, 2},
    {"sum is clamped", "mul.f32 %m,%a,%b;\nsub.sat.f32 %r,%m,%c;", {1}, 1},
    {"under a guard", "mul.f32 %m,%a,%b;\nmov.f32 %r,%c;\n@%p sub.f32 %r,%m,%c;", {1}, 1},
    {"guarded product", "mov.f32 %m,%c;\n@%p mul.f32 %m,%a,%b;\nsub.f32 %r,%m,%c;", {0}, 2},
    {"behind a barrier", "mul.f32 %m,%a,%b;\nbar.sync 0;\nsub.f32 %r,%m,%c;", {1}, 1},
    {"behind a fence", "mul.f32 %m,%a,%b;\nmembar.gl;\nsub.f32 %r,%m,%c;", {0}, 2},
    {"behind a branch",
     "mul.f32 %m,%a,%b;\n@!%p bra L;\nmov.f32 %t,%c;\nL:\nsub.f32 %r,%m,%c;",
     {0},
     2},
    {"part of an fma", "mul.f32 %m,%a,%b;\nsub.f32 %r,%m,%c;\nfma.rn.f32 %s,%a,%d,%m;", {0, -1}, 3},
};

static char *text(struct arena *a, const char *body, unsigned results) {
    static const char *const names = "rstu";
    char stores[400] = "";
    for (unsigned i = 0; i < results; i++) {
        size_t n = strlen(stores);
        snprintf(stores + n, sizeof stores - n, "st.global.f32 [%%o+%u],%%%c;\n", 4 * i, names[i]);
    }
    return rig_printf(
        a,
        ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"
        ".visible .entry k(.param .u64 po, .param .u64 px) {\n.reg .f32 "
        "%%a,%%b,%%c,%%d,%%e,%%m,%%k,%%r,%%s,%%t;\n"
        ".reg .b64 %%o,%%x;\n.reg .pred %%p;\n.reg .b32 %%n;\n.loc 1 3 0\nld.param.u64 "
        "%%o,[po];\nld.param.u64 "
        "%%x,[px];\n"
        "mov.u32 %%n,%%ntid.x;\nsetp.eq.u32 %%p,%%n,1;\nld.global.f32 %%a,[%%x];\nld.global.f32 "
        "%%b,[%%x];\n"
        "ld.global.f32 %%c,[%%x+4];\nld.global.f32 %%d,[%%x+8];\nld.global.f32 %%e,[%%x+12];\n"
        ".loc 1 5 0\n%s\n.loc 1 9 0\n%sret;\n}\n",
        body, stores);
}

static unsigned others(const char *body) {
    static const char *const names[] = {"mov.", "bar.", "membar.", "bra "};
    unsigned n = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        for (const char *p = body; (p = strstr(p, names[i])); p++)
            n += p == body || p[-1] == '\n' || p[-1] == ' ';
    return n;
}

START_TEST(fma_contraction_matches_ptxas) {
    const struct fma_case *c = &cases[_i];
    const float e = 0x1p-12f, values[] = {1 + e, 1 + 2 * e, -(1 + e), -(1 + 2 * e)};
    struct arena a = {0};
    float actual[MAX_RESULTS];
    unsigned n = 0;
    for (const char *p = "rst"; *p; p++) n += strstr(c->body, (char[]){'%', *p, ',', 0}) != NULL;
    struct kernel_rig r = rig_open(text(&a, c->body, n));
    uint64_t out = sim_alloc(r.sim, sizeof actual, "out"),
             in = sim_alloc(r.sim, sizeof values, "in"), params[] = {out, in};
    sim_write(r.sim, in, values, sizeof values);
    struct sim_result result = rig_run(&r, "k", 1, 1, params, sizeof params);
    ck_assert_int_eq(result.fault, SIM_FAULT_NONE);
    sim_read(r.sim, out, actual, sizeof actual);
    for (unsigned i = 0; i < n; i++)
        ck_assert_msg(actual[i] == (float)c->expected[i] * e * e, "%s: result %u is %g e^2",
                      c->name, i, actual[i] / (e * e));
    ck_assert_uint_eq(rig_line(&result, 5).inst_executed, c->flops + others(c->body));
    sim_result_free(&result);
    rig_close(&r);
    arena_free(&a);
}
END_TEST

/* One kernel for each type, p - c of a product p, and with --ptx-counters, where nothing is taken
 * in. */
static const struct {
    const char *type, *reg;
    unsigned bytes;
    uint64_t a, c, expected; /* 1 + e, 1 + 2e, e² */
} types[] = {
    {"f32", "f32", 4, 0x3f800800, 0x3f801000, 0x33800000},
    {"f64", "f64", 8, 0x3ff0000002000000, 0x3ff0000004000000, 0x3c90000000000000},
    {"f16", "b16", 2, 0x3c10, 0x3c20, 0x0c00},
    {"bf16", "b16", 2, 0x3f88, 0x3f90, 0x3b80},
    {"f16x2", "b32", 4, 0x3c103c10, 0x3c203c20, 0x0c000c00},
    {"bf16x2", "b32", 4, 0x3f883f88, 0x3f903f90, 0x3b803b80},
};

START_TEST(fma_contraction_covers_all_types) {
    for (unsigned ptx = 0; ptx < 2; ptx++) {
        struct arena a = {0};
        uint64_t actual = 0, values[2] = {types[_i].a, types[_i].c};
        const char *t = types[_i].type, *reg = types[_i].reg;
        unsigned bits = 8 * types[_i].bytes;
        char *kernel = rig_printf(&a,
                                  ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry "
                                  "k(.param .u64 po, .param .u64 px) {\n"
                                  ".reg .%s %%a,%%c,%%m,%%r;\n.reg .b64 %%o,%%x;\nld.param.u64 "
                                  "%%o,[po];\nld.param.u64 %%x,[px];\n"
                                  "ld.global.b%u %%a,[%%x];\nld.global.b%u %%c,[%%x+8];\nmul.%s "
                                  "%%m,%%a,%%a;\nsub.%s %%r,%%m,%%c;\n"
                                  "st.global.b%u [%%o],%%r;\nret;\n}\n",
                                  reg, bits, bits, t, t, bits);
        struct kernel_rig r = rig_open_with(kernel, (struct rig_options){.ptx_counters = ptx});
        uint64_t out = sim_alloc(r.sim, 16, "out"), in = sim_alloc(r.sim, 16, "in"),
                 params[] = {out, in};
        sim_write(r.sim, in, values, sizeof values);
        sim_fill(r.sim, out, 0, 16);
        struct sim_result result = rig_run(&r, "k", 1, 1, params, sizeof params);
        sim_read(r.sim, out, &actual, sizeof actual);
        ck_assert_msg(actual == (ptx ? 0 : types[_i].expected), "%s: %llx", t,
                      (unsigned long long)actual);
        sim_result_free(&result);
        rig_close(&r);
        arena_free(&a);
    }
}
END_TEST

/* Invalid instructions are refused as before, and not contracted. */
START_TEST(nonexistent_instructions_are_not_contracted) {
    static const char *const bodies[] = {"mul.ftz.f64 %m,%a,%a;\nsub.ftz.f64 %r,%m,%a;",
                                         "mul.f64 %m,%a,%a;\nsub.sat.f64 %r,%m,%a;",
                                         "mul.ftz.bf16 %h,%h,%h;\nsub.ftz.bf16 %g,%h,%h;"};
    for (unsigned i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct arena a = {0};
        struct err e = {0};
        char *ptx = rig_printf(&a,
                               ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() "
                               "{\n.reg .f64 %%a,%%m,%%r;\n"
                               ".reg .b16 %%h,%%g;\n%s\nret;\n}\n",
                               bodies[i]);
        struct sim_options so = {.device = device_find("h200")};
        struct sim *sim = sim_open(&so, &e);
        ck_assert_msg(!sim_load(sim, ptx, strlen(ptx), &e), "%s", bodies[i]);
        ck_assert_msg(strstr(e.text, "not implemented"), "%s", e.text);
        sim_close(sim);
        arena_free(&a);
    }
}
END_TEST

UNIT_SUITE(fma_contraction) {
    Suite *suite = suite_create("fma_contraction");
    TCase *c = tcase_create("contract");
    tcase_add_loop_test(c, fma_contraction_matches_ptxas, 0, sizeof cases / sizeof *cases);
    tcase_add_test(c, nonexistent_instructions_are_not_contracted);
    tcase_add_loop_test(c, fma_contraction_covers_all_types, 0, sizeof types / sizeof *types);
    suite_add_tcase(suite, c);
    return suite;
}
