/* test_ptxas.c — tests the parsing of ptxas's messages, on texts written by hand in the format
 * of `ptxas -v`. */
#include "common/file.h"
#include "grader/server/ptxas.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

static void expect(const char **text, const char *name, unsigned registers, unsigned spill_bytes) {
    struct ptxas_usage f;
    *text = ptxas_parse_next(*text, &f);
    ck_assert_msg(*text != NULL, "%s is not found", name);
    ck_assert_msg(f.length == strlen(name) && !memcmp(f.name, name, f.length),
                  "`%.*s`, expected `%s`", (int)f.length, f.name, name);
    ck_assert_uint_eq(f.registers, registers);
    ck_assert_uint_eq(f.spill_bytes, spill_bytes);
}

static void expect_end(const char *text) {
    struct ptxas_usage f;
    ck_assert(ptxas_parse_next(text, &f) == NULL);
}

START_TEST(each_kernel_has_its_own_resource_usage) {
    const char *text =
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function '_Z3bigPf' for 'sm_90'\n"
        "ptxas info    : Function properties for _Z3bigPf\n"
        "    16 bytes stack frame, 24 bytes spill stores, 40 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size\n"
        "ptxas info    : Compile time = 12.3 ms\n"
        "ptxas info    : Compiling entry function '_Z5smallPf' for 'sm_90'\n"
        "ptxas info    : Function properties for _Z5smallPf\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 8 registers, used 0 barriers\n";
    expect(&text, "_Z3bigPf", 255, 64);
    expect(&text, "_Z5smallPf", 8, 0);
    expect_end(text);
}
END_TEST

START_TEST(a_called_function_is_not_a_kernel) {
    const char *text = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
                       "ptxas info    : Function properties for k\n"
                       "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                       "ptxas info    : Used 24 registers\n"
                       "ptxas info    : Function properties for helper\n"
                       "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n";
    expect(&text, "k", 24, 8); /* what it may call follows it */
    expect_end(text);
}
END_TEST

START_TEST(lines_are_not_read_past_their_end) {
    char text[2048] = "ptxas info    : Compiling entry function '", name[700];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    strcat(text, name);
    strcat(text, "' for 'sm_90'\n\n"
                 "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                 "ptxas info    : Used\n"
                 "7 registers\n"
                 "ptxas info    : Used 12 registers\n");
    const char *at = text;
    expect(&at, name, 12, 0);
    expect_end(at);
    expect_end("ptxas info    : Used 12 registers\n"); /* of whom? */
    expect_end("");
}
END_TEST

START_TEST(a_kernel_name_that_looks_like_a_message_is_no_message) {
    const char *text = "ptxas info    : Compiling entry function 'Used_99_registers' for 'sm_90'\n"
                       "ptxas info    : Function properties for Used_99_registers\n"
                       "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                       "ptxas info    : Used 5 registers\n";
    expect(&text, "Used_99_registers", 5, 0);
    expect_end(text);
}
END_TEST

/* Returns the -arch with which ptxas compiles code for that target, on that device. */
static void called_with(const char *target, unsigned arch, const char *expected) {
    char script[4096], output[4200], ptx[200];
    struct buf actual = {0};
    struct err e = {0};
    snprintf(script, sizeof script, "%s/tests/arch-of-ptxas", build_folder());
    snprintf(output, sizeof output, "%s.said", script);
    snprintf(ptx, sizeof ptx,
             ".version 8.0\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n", target);
    ck_assert_int_eq(
        shell("printf '#!/bin/sh\\necho $1 >%s\\n' >%s && chmod +x %s", output, script, script), 0);
    struct kernel_rig r =
        rig_open(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n");
    ptxas_end(ptxas_begin(ptx, strlen(ptx), arch, false, script, NULL), r.module, &e);
    ck_assert_msg(file_read(output, 100, &actual, &e), "%s", e.text);
    ck_assert_str_eq(buf_str(&actual), expected);
    buf_free(&actual), rig_close(&r);
}

/* PTX ISA, ".target": code for sm_90a is compiled for that alone; older code for the device. */
START_TEST(arch_specific_code_is_compiled_for_its_own_target) {
    called_with("sm_80", 90, "-arch=sm_90\n");
    called_with("sm_90", 90, "-arch=sm_90\n");
    called_with("sm_90a", 90, "-arch=sm_90a\n");
    called_with("sm_90a", 80, "-arch=sm_90a\n");
    called_with("sm_80, debug", 86, "-arch=sm_86\n");
}
END_TEST

UNIT_SUITE(ptxas) {
    Suite *suite = suite_create("ptxas");
    TCase *tc = tcase_create("what it says");
    tcase_add_test(tc, each_kernel_has_its_own_resource_usage);
    tcase_add_test(tc, a_called_function_is_not_a_kernel);
    tcase_add_test(tc, lines_are_not_read_past_their_end);
    tcase_add_test(tc, a_kernel_name_that_looks_like_a_message_is_no_message);
    tcase_add_test(tc, arch_specific_code_is_compiled_for_its_own_target);
    suite_add_tcase(suite, tc);
    return suite;
}
