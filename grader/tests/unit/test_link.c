/* test_link.c — tests linking several PTX texts into one program: whose definition counts, what
 * is refused, and that each text keeps its own symbols. */
#include "grader/sim/device.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

#define PTX_HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY                                                                                   \
    ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<9>; .reg .b64 %d<9>;\nld.param.u64 %d0, " \
    "[p];\n"

static struct sim_module *load(struct sim *s, const char *a, const char *b, struct err *e) {
    struct sim_ptx_text texts[] = {{a, strlen(a)}, {b, strlen(b)}};
    return sim_load_linked(s, texts, 2, e);
}

static struct sim *open_sim(void) {
    struct err e = {0};
    struct sim *s =
        sim_open(&(struct sim_options){.device = device_find("h200"), .workers = 1}, &e);
    ck_assert_msg(s != NULL, "%s", e.text);
    return s;
}

/* k stores x, y and f() of the first text; each case names the expected values. */
static const char first[] = PTX_HEADER
    ".extern .global .u32 x;\n.global .u32 y = 7;\n.extern .func (.param .b32 r) f();\n" ENTRY
    "ld.global.u32 %r0, [x];\nst.global.u32 [%d0], %r0;\nld.global.u32 %r1, "
    "[y];\nst.global.u32 [%d0+4], %r1;\n"
    "{ .param .b32 v; call (v), f; ld.param.b32 %r2, [v]; }\nst.global.u32 [%d0+8], "
    "%r2;\nret;\n}\n";
#define F(linkage, value)                                          \
    linkage " .func (.param .b32 r) f() { .reg .b32 %r<2>; " value \
            " st.param.b32 [r], %r0; ret; }\n"

static void run(const char *second, uint32_t expected[3]) {
    struct sim *s = open_sim();
    struct err e = {0};
    struct sim_module *m = load(s, first, second, &e);
    ck_assert_msg(m != NULL, "%s", e.text);
    uint64_t out = sim_alloc(s, 12, "out");
    uint32_t actual[3];
    struct sim_result r;
    struct sim_launch l = {.kernel = sim_find_kernel(m, "k"),
                           .grid = {1, 1, 1},
                           .block = {1, 1, 1},
                           .params = &out,
                           .param_bytes = 8};
    sim_launch(s, &l, &r);
    ck_assert_int_eq(r.fault, SIM_FAULT_NONE);
    sim_read(s, out, actual, sizeof actual);
    ck_assert_mem_eq(actual, expected, sizeof actual);
    sim_result_free(&r);
    sim_close(s);
}

START_TEST(weak_and_visible_definitions_are_resolved) {
    run(PTX_HEADER ".visible .global .u32 x = 3;\n.global .u32 y = 9;\n" F(
            ".visible", "ld.global.u32 %r0, [y];"),
        (uint32_t[]){3, 7, 9}); /* y is each text's own */
    run(PTX_HEADER ".weak .global .u32 x = 4;\n.weak .global .u32 z[2] = {1, 2};\n" F(
            ".weak", "mov.u32 %r0, 5;"),
        (uint32_t[]){4, 7, 5});
}
END_TEST

static const struct {
    const char *a, *b, *expected;
} refused[] = {
    {PTX_HEADER ".visible .global .u32 x = 3;\n", PTX_HEADER ".visible .global .u32 x;\n",
     "Multiple definition of 'x' in files 1 and 2 of the program"},
    {PTX_HEADER F(".visible", "mov.u32 %r0, 5;"), PTX_HEADER F(".visible", "mov.u32 %r0, 5;"),
     "Multiple definition of 'f'"},
    {first, PTX_HEADER F(".visible", "mov.u32 %r0, 5;"),
     "variable `x` is declared extern but defined nowhere"},
    {first, PTX_HEADER ".visible .global .u32 x;\n", "undefined function `f`"},
};

START_TEST(conflicting_definitions_are_rejected) {
    struct sim *s = open_sim();
    struct err e = {0};
    ck_assert_ptr_null(load(s, refused[_i].a, refused[_i].b, &e));
    ck_assert_msg(strstr(e.text, refused[_i].expected) != NULL, "%s", e.text);
    sim_close(s);
}
END_TEST

/* A strong definition overrides a weak one, in any order. */
START_TEST(a_strong_definition_overrides_a_weak_one) {
    struct sim *s = open_sim();
    struct err e = {0};
    struct sim_module *m = load(s, PTX_HEADER ".weak .global .u32 x = 4;\n",
                                PTX_HEADER ".visible .global .u32 x = 3;\n", &e);
    uint64_t at, bytes;
    uint32_t v;
    ck_assert_msg(m != NULL, "%s", e.text);
    ck_assert(sim_find_symbol(m, "x", &at, &bytes));
    sim_read(s, at, &v, sizeof v);
    ck_assert_uint_eq(v, 3);
    sim_close(s);
}
END_TEST

UNIT_SUITE(link) {
    Suite *suite = suite_create("link");
    TCase *tc = tcase_create("linking");
    tcase_add_test(tc, weak_and_visible_definitions_are_resolved);
    tcase_add_loop_test(tc, conflicting_definitions_are_rejected, 0,
                        sizeof refused / sizeof *refused);
    tcase_add_test(tc, a_strong_definition_overrides_a_weak_one);
    suite_add_tcase(suite, tc);
    return suite;
}
