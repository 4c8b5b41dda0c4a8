/* test_grader_text.c — tests the cleaning of untrusted text, and symbol names. */
#include "common/text.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

static const char *cleaned(const char *s, size_t n, size_t limit) {
    static struct buf b;
    buf_clear(&b);
    text_clean(&b, s, n, limit);
    return buf_str(&b);
}

START_TEST(control_characters_are_shown) {
    ck_assert_str_eq(cleaned("a\tb\nc", 5, 100), "a\tb\nc");
    ck_assert_str_eq(cleaned("\033[31mred\007", 9, 100), "\\x1b[31mred\\x07");
    ck_assert_str_eq(cleaned("a\0b", 3, 100), "a\\x00b");
    ck_assert_str_eq(cleaned("a\r\nb", 4, 100), "a\nb");
}
END_TEST

START_TEST(utf8_is_checked) {
    ck_assert_str_eq(cleaned("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", 11, 100),
                     "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
    ck_assert_str_eq(cleaned("\xc0\xaf", 2, 100), "\\xc0\\xaf");          /* overlong slash */
    ck_assert_str_eq(cleaned("\xed\xa0\x80", 3, 100), "\\xed\\xa0\\x80"); /* a surrogate */
    ck_assert_str_eq(cleaned("\xc2\x9b", 2, 100),
                     "\\xc2\\x9b"); /* C1: some terminals take it for ESC [ */
    ck_assert_str_eq(cleaned("\xe2\x80\xae", 3, 100),
                     "\\xe2\\x80\\xae");                         /* right-to-left override */
    ck_assert_str_eq(cleaned("\xe2\x82", 2, 100), "\\xe2\\x82"); /* cut off */
}
END_TEST

START_TEST(long_text_is_cut_at_a_line) {
    ck_assert_str_eq(cleaned("one\ntwo\nthree\n", 14, 9), "one\ntwo\n[6 more bytes left out]\n");
}
END_TEST

START_TEST(names_fit_one_line) {
    struct buf b = {0};
    text_clean_name(&b, "a\nb\tc\x1b");
    ck_assert_str_eq(buf_str(&b), "a\\x0ab\\x09c\\x1b");
    buf_free(&b);
}
END_TEST

static const char *demangled(const char *s) {
    static struct buf b;
    buf_free(&b);
    buf_puts(&b, s);
    text_demangle(&b);
    return buf_str(&b);
}

/* Right-hand sides: what c++filt prints, without the arguments. */
START_TEST(mangled_names_are_demangled) {
    ck_assert_str_eq(demangled("kernel `_Z16transpose_kernelPfPKfii`, block"),
                     "kernel `transpose_kernel`, block");
    ck_assert_str_eq(demangled("_ZN3foo3barEPf"), "foo::bar");
    ck_assert_str_eq(demangled("_Z4tileILi32EEvPf"), "tile<…>");
    ck_assert_str_eq(demangled("_Z99999x _Z _Zfoo _Z0 a_Z3foo"), "_Z99999x _Z _Zfoo _Z0 a_Z3foo");
    ck_assert_str_eq(demangled(""), "");
}
END_TEST

START_TEST(text_replace_handles_shorter_text) {
    struct buf b = {0};
    buf_puts(&b, "/work/a.cu: /work/a.cu");
    text_replace(&b, "/work/", "");
    ck_assert_str_eq(buf_str(&b), "a.cu: a.cu");
    buf_free(&b);
}
END_TEST

START_TEST(html_comments_are_dropped) {
    struct buf b = {0};
    buf_puts(&b, "One.\n<!--fig 1: 2;\n3: 4-->\n- two <!--a--> three\n<!--never closed");
    text_strip_comments(&b);
    ck_assert_str_eq(buf_str(&b), "One.\n- two  three\n");
    ck_assert_uint_eq(b.size, strlen("One.\n- two  three\n"));
    buf_free(&b);
}
END_TEST

START_TEST(a_comment_between_blank_lines_still_ends_a_list) {
    struct buf b = {0};
    buf_puts(&b,
             "One.\n<!--fig 1: 2-->\n\n- two <!--a--> three\n\n<!--code x.cu-->\n\n    int x;\n");
    text_empty_comments(&b);
    ck_assert_str_eq(buf_str(&b), "One.\n\n- two  three\n\n<!---->\n\n    int x;\n");
    ck_assert_uint_eq(b.size, strlen(buf_str(&b)));
    buf_free(&b);
}
END_TEST

UNIT_SUITE(grader_text) {
    Suite *s = suite_create("grader_text");
    TCase *t = tcase_create("text");
    tcase_add_test(t, control_characters_are_shown);
    tcase_add_test(t, utf8_is_checked);
    tcase_add_test(t, long_text_is_cut_at_a_line);
    tcase_add_test(t, names_fit_one_line);
    tcase_add_test(t, mangled_names_are_demangled);
    tcase_add_test(t, text_replace_handles_shorter_text);
    tcase_add_test(t, html_comments_are_dropped);
    tcase_add_test(t, a_comment_between_blank_lines_still_ends_a_list);
    suite_add_tcase(s, t);
    return s;
}
