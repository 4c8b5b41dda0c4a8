/* test_timing_pipes.c — compares the time model of functions, conversions, divisions and double
 * precision with an H200's times (grader/tests/timing/control-h200.tsv). */
#include "grader/tests/unit/timing_spec.h"

/* Returns the cycles of a scheduler for each of 16 instructions "OP TO, FROM TAIL", with registers
 * of their own, at eight warps a scheduler. */
static double cycles_of(const char *device, const char *op, const char *to, const char *from,
                        const char *tail) {
    struct kernel_spec s = {.device = device, .blocks = 80, .threads = 1024, .n = 20};
    for (unsigned i = 0; i < 16; i++)
        spec_add(&s, "%s %%%s%u, %%%s%u%s;\n", op, to, i + 10, from, i + 10, tail);
    double cycles = spec_cycles(&s) / (8 * 20 * 16);
    buf_free(&s.body);
    return cycles;
}

/* H200, sixteen warps a scheduler (grader/tests/timing/control-h200.tsv): the time of a row less an
 * empty kernel's, by 1980 MHz and the 8192 operations of a scheduler. */
START_TEST(functions_wait_for_the_xu_pipe) {
    ck_about(cycles_of("h200", "lg2.approx.ftz.f32", "f", "f", ""), 7.9, 0.1);
    ck_about(cycles_of("h200", "sin.approx.ftz.f32", "f", "f", ""), 7.9, 0.1);
}
END_TEST

START_TEST(integers_become_floats_in_the_alu_from_8_6_on) {
    ck_about(cycles_of("h200", "cvt.rn.f32.s32", "f", "r", ""), 2.2, 0.15);
    ck_about(cycles_of("a100", "cvt.rn.f32.s32", "f", "r", ""), 8, 0.1); /* I2F */
}
END_TEST

START_TEST(long_divisions_take_the_measured_cycles) {
    double quotient = cycles_of("h200", "div.u64", "d", "d", ", %d0"),
           remainder = cycles_of("h200", "rem.s64", "d", "d", ", %d0");
    ck_about(quotient, 127.6, 0.15);
    ck_about(remainder, 137.0, 0.15);
}
END_TEST

START_TEST(double_precision_takes_two_issue_slots) {
    enum { GROUPS = 20, ROUNDS = 50 };
    struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = ROUNDS};
    for (unsigned i = 0; i < GROUPS; i++) {
        spec_add(&s, "fma.rn.f64 %%e%u, %%e%u, %%e30, %%e31;\n", i, i);
        for (unsigned k = 0; k < 4; k++)
            spec_add(&s, "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n", 4 * i + k, 4 * i + k);
    }
    ck_about(spec_cycles(&s) / (8 * ROUNDS * GROUPS), 5.9, 0.1); /* double-beside-4-w64 */
    ck_bound(spec_model(&s), "issue slots");
    buf_free(&s.body);
}
END_TEST

START_TEST(double_divisions_are_chains) {
    struct kernel_spec s = {.blocks = SMS, .threads = 32, .n = 20};
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "div.rn.f64 %%e0, %%e30, %%e0;\nadd.f64 %%e0, %%e0, %%e31;\n");
    ck_about(spec_cycles(&s) / (20 * 8), 133, 0.25); /* double-div-1-w1 */
    buf_free(&s.body);
}
END_TEST

UNIT_SUITE(timing_pipes) {
    Suite *s = suite_create("timing_pipes");
    TCase *c = tcase_create("pipes");
    suite_add_tcase(s, c);
    tcase_add_test(c, functions_wait_for_the_xu_pipe);
    tcase_add_test(c, integers_become_floats_in_the_alu_from_8_6_on);
    tcase_add_test(c, long_divisions_take_the_measured_cycles);
    tcase_add_test(c, double_precision_takes_two_issue_slots);
    tcase_add_test(c, double_divisions_are_chains);
    return s;
}
