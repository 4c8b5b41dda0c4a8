/* test_source_quote.c — tests how reports quote the source: indices, derived by hand from the
 * declaration, and the lines that are named. */
#include "common/quote.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void expect(const char *source, unsigned line, const char *text, const char *expected) {
    struct buf b = {0};
    buf_puts(&b, text);
    quote_rewrite_elements(&b, source, strlen(source), line);
    ck_assert_str_eq(buf_str(&b), expected);
    buf_free(&b);
}

static const char at_67[] = "writes element 67 of `as` (1056 of 4 bytes) in shared memory, twice";

START_TEST(an_element_is_named_by_its_indices) {
    /* 67 = 2 · 33 + 1 */
    expect("__shared__ float as[32][33];", 1, at_67, "writes `as[2][1]` in shared memory, twice");
    expect("__shared__ float as[1056];", 1, at_67, "writes `as[67]` in shared memory, twice");
    /* 67 = 1 · 66 + 0 · 33 + 1 */
    expect("__shared__ int bs[8], as[16][2][33];", 1, at_67,
           "writes `as[1][0][1]` in shared memory, twice");
}
END_TEST

START_TEST(array_dimensions_may_be_constant_expressions) {
    const char *expected = "writes `as[2][1]` in shared memory, twice";
    expect("#define TILE 32\n__shared__ float as[TILE][TILE + 1];", 2, at_67, expected);
    expect("constexpr int T = 4 * 8; // tile\n__shared__ float as[T][(T + 1)];", 2, at_67,
           expected);
    expect("enum { A = 2, T = 32 };\n__shared__ float as[T][T + A / 2];", 2, at_67, expected);
    expect("template <int PITCH> __global__ void k() { __shared__ float as[32][PITCH]; }", 1, at_67,
           expected);
}
END_TEST

START_TEST(ambiguous_declarations_leave_the_message_unchanged) {
    expect("__shared__ float as[32][32];", 1, at_67, at_67); /* not 1056 elements */
    expect("__shared__ float4 as[264];", 1, at_67, at_67);   /* of 16 bytes */
    expect("template <int X, int Y> f() { __shared__ float as[X][Y]; }", 1, at_67, at_67);
    expect("float as[32][33];", 1, at_67, at_67); /* another variable */
    expect("/* __shared__ float as[32][33]; */ \"__shared__ as[1056]\"", 1, at_67, at_67);
    expect("#define A B + B\n#define B A * A\n__shared__ float as[A][33];", 3, at_67,
           "writes `as[2][1]` in shared memory, twice"); /* A has no number, and follows */
    expect("#define A B\n#define B A\n__shared__ float as[A][B];", 3, at_67, at_67);
    expect("__shared__ float as[32][33", 1, at_67, at_67);
    expect("", 1, at_67, at_67);
    expect("__shared__ float as[32][33];", 1, "element 5 of `p` (64 bytes)",
           "element 5 of `p` (64 bytes)");
}
END_TEST

START_TEST(the_nearest_preceding_declaration_is_used) {
    const char *source = "f() { __shared__ float as[1056]; }\ng() {\n__shared__ float "
                         "as[32][33];\n}\nh() { __shared__ "
                         "float as[16][66]; }";
    expect(source, 1, at_67, "writes `as[67]` in shared memory, twice");
    expect(source, 4, at_67, "writes `as[2][1]` in shared memory, twice");
    expect(source, 5, at_67, "writes `as[1][1]` in shared memory, twice");
}
END_TEST

START_TEST(each_named_line_is_quoted_once) {
    const char *source = "one\n    two;\n\tthree\x1b[31m\nfour";
    struct buf b = {0};
    quote_lines(
        "x.cu:4: writes, which thread 1 read in line 2, and in line 4, in line 3, in line 99",
        source, strlen(source), 4, "> ", "\n", &b);
    ck_assert_str_eq(buf_str(&b), ">     4 | four\n>     2 | two;\n>     3 | three\\x1b[31m\n");
    buf_free(&b);
}
END_TEST

START_TEST(macro_bombs_do_not_hang_the_quoter) {
    struct buf source = {0};
    for (int i = 0; i < 40; i++) {
        buf_printf(&source, "#define N%d ", i);
        for (int k = 0; k < 40; k++) buf_printf(&source, "N%d + ", i + 1);
        buf_puts(&source, "1\n");
    }
    for (int k = 0; k < 10000; k++)
        buf_puts(&source, "__shared__ float as[N0][((((((((((((1))))))))))))];\n");
    expect(buf_str(&source), 99999, at_67, at_67);
    buf_free(&source);
}
END_TEST

UNIT_SUITE(source_quote) {
    Suite *suite = suite_create("source_quote");
    TCase *tc = tcase_create("quote");
    tcase_add_test(tc, an_element_is_named_by_its_indices);
    tcase_add_test(tc, array_dimensions_may_be_constant_expressions);
    tcase_add_test(tc, ambiguous_declarations_leave_the_message_unchanged);
    tcase_add_test(tc, the_nearest_preceding_declaration_is_used);
    tcase_add_test(tc, each_named_line_is_quoted_once);
    tcase_add_test(tc, macro_bombs_do_not_hang_the_quoter);
    suite_add_tcase(suite, tc);
    return suite;
}
