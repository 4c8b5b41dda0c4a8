/* test_ptx_errors.c — tests the PTX parser's errors: the line that they name, and what the
 * parser expected there. */
#include "grader/sim/ptx/ptx.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* Wraps the text in a kernel whose body starts on line 4. */
#define K(body) ".version 8.0\n.target sm_75\n.entry k() {\n" body "\n}"
/* Puts the text at module scope, on line 3. */
#define M(text) ".version 8.0\n.target sm_75\n" text "\n"

static const struct {
    const char *text, *expected;
    enum err_kind kind;
} errors[] = {
    {"", "PTX line 1: expected .version and .target", ERR_INPUT},
    {"hello", "PTX line 1: expected a function, an entry or a variable, found 'hello'", ERR_INPUT},
    {".version 8.0\n.target sm_75\n.address_size 32", "PTX line 3: only 64-bit", ERR_UNSUPPORTED},
    {K("add.s32 %r1, %r2"), "PTX line 5: expected ',' or ';' after the operand, found '}'",
     ERR_INPUT},
    {K(".reg .b32 %r<3>;\nmov.u32 %r3, 1;"),
     "PTX line 5: the register '%r3' is outside the declared range '%r<3>'", ERR_INPUT},
    {K("bra nowhere;"), "PTX line 4: 'nowhere' is neither declared nor a label", ERR_INPUT},
    {K("{ in: }\nbra in;"), "PTX line 5: 'in' is neither declared nor a label", ERR_INPUT},
    {K("x:\nx:"), "PTX line 5: 'x' is declared twice", ERR_INPUT},
    {K(".reg .pred p;\nbra p;\n@q ret;"), "PTX line 6: 'q' is not a predicate register", ERR_INPUT},
    {K("ret;\n"), NULL, ERR_NONE},
    {".version 8.0\n.target sm_75\n.entry k() {\nret;\n", "PTX line 3: this block is never closed",
     ERR_INPUT},
    {K("mov.u32 x, 99999999999999999999;"), "PTX line 4: an integer does not fit", ERR_INPUT},
    {K("bar.sync 1/0;"), "PTX line 4: a constant is divided by zero", ERR_INPUT},
    {K("bar.sync (1;"), "PTX line 4: expected ')' in the constant, found ';'", ERR_INPUT},
    {K("bar.sync ((((((((((((((((((((((((((((((((((((((1;"), "PTX line 4: a constant is nested",
     ERR_LIMIT},
    {K("mov.u32 x, 0f3F8;"), "PTX line 4: expected 8 hexadecimal digits", ERR_INPUT},
    {K("mov.u32 x, 12ab;"), "PTX line 4: '12ab' is not a number", ERR_INPUT},
    {K(".reg .b32 %r<2>;\n/* never"), "PTX line 5: this comment is never closed", ERR_INPUT},
    {K("#"), "PTX line 4: the byte 0x23", ERR_INPUT},
    {K(".reg .b64 %d<9>; .reg .f32 %f<9>;\ntex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, %d2, "
       "{%f1}];"),
     "PTX line 5: samplers and descriptors", ERR_UNSUPPORTED},
    {K(".reg .b64 %d<9>; .reg .b32 %r<9>;\ncp.async.bulk.tensor.2d [%d1, {%r1, %r2], 1;"),
     "PTX line 5: expected '}' after the vector's items", ERR_INPUT},
    {K("{{{{{{"), "PTX line 4: this block is never closed", ERR_INPUT},
    {K("mov.b32 {{{{{{1}}}}}}, 2;"), "PTX line 4: operands are nested", ERR_LIMIT},
    {K("ld.u32 x, [64];"), "PTX line 4: 'x' is neither declared", ERR_INPUT},
    {K(".reg .b32 x; ld.u32 x, [k];"), "PTX line 4: 'k' is neither a register nor a variable",
     ERR_INPUT},
    {K("t: .branchtargets u;\nu: ret;\nbra.uni t, t;"), NULL, ERR_NONE},
    {M(".global .b8 x[4] = {1, 2, 3, 4, 5};"), "PTX line 3: too many initial values for 'x'",
     ERR_INPUT},
    {M(".global .u64 x = y;"), "PTX line 3: the initial value names 'y', which is not declared",
     ERR_INPUT},
    {M(".global .b8 x[8] = {0xFF(x), 0xFF00(x)};"),
     "PTX line 3: 2 bytes cannot hold the address of 'x'", ERR_INPUT},
    {M(".global .b8 x[8] = {0xFF00(x)};"),
     "PTX line 3: a part of the address of 'x' does not follow the part before it", ERR_INPUT},
    {M(".global .u32 x;\n.global .u32 x;"), "PTX line 4: the variable 'x' is declared twice",
     ERR_INPUT},
    {M(".func f() {}\n.func f() {}"), "PTX line 4: the function 'f' has two bodies", ERR_INPUT},
    {M(".global .b8 x[4294967296][4294967296];"),
     "PTX line 3: an array size is 4294967296, more than", ERR_LIMIT},
    {M(".global .b8 x[65536][65536];"), "PTX line 3: a variable of more than 2 GiB", ERR_LIMIT},
    {M(".global .b8 x[1073741824] = {1};"),
     "PTX line 3: an initialized variable of more than 64 MiB", ERR_LIMIT},
    {M(".shared .b8 x[];"), "PTX line 3: expected the size of 'x'", ERR_INPUT},
    {M(".shared .b32 x = 3;"), "PTX line 3: 'x' cannot have an initial value", ERR_INPUT},
    {M(".global .texref t;"), "PTX line 3: the simulated GPU does not know the type '.texref'",
     ERR_UNSUPPORTED},
    {M(".global .align 3 .b8 x;"), "PTX line 3: an alignment of 3 is not a power of two",
     ERR_INPUT},
    {M(".file 99999999 \"x\""), "PTX line 3: a file's number is 99999999, more than", ERR_LIMIT},
};

START_TEST(parse_errors_have_the_expected_message) {
    struct arena a = {0};
    struct err e = {0};
    const struct ptx_module *m = ptx_parse(&a, errors[_i].text, strlen(errors[_i].text), &e);
    ck_assert_int_eq(e.kind, errors[_i].kind);
    ck_assert_int_eq(m != NULL, errors[_i].expected == NULL);
    if (errors[_i].expected)
        ck_assert_msg(!strncmp(e.text, errors[_i].expected, strlen(errors[_i].expected)), "%s",
                      e.text);
    arena_free(&a);
}
END_TEST

START_TEST(an_oversized_text_is_rejected_unread) {
    struct arena a = {0};
    struct err e = {0};
    ck_assert_ptr_null(
        ptx_parse(&a, "", (size_t)PTX_MAX_TEXT + 1, &e)); /* refused before a byte is read */
    ck_assert_int_eq(e.kind, ERR_LIMIT);
    arena_free(&a);
}
END_TEST

/* Texts made to be slow: each would take minutes if some step were quadratic in their length. */
static char *repeat(struct arena *a, const char *head, const char *part, unsigned n,
                    const char *tail) {
    size_t capacity = strlen(head) + (strlen(part) + 12) * n + strlen(tail) + 1;
    char *text = arena_alloc(a, capacity), *at = stpcpy(text, head);
    for (unsigned i = 0; i < n; i++) at += sprintf(at, part, i);
    strcpy(at, tail);
    return text;
}

static const struct {
    const char *head, *part, *tail;
    bool fine;
} floods[] = {
    {K(""), "", "", true},
    {".version 8.0\n.target sm_75\n.entry k() {", "L%u:", "}", true},
    {".version 8.0\n.target sm_75\n.entry k() {", "bra L%u;", "}", false},
    {".version 8.0\n.target sm_75\n.entry k() {{{{{{{{{{{{{{{{{{", "bra L;", "}}}}}}}}}}}}}}}}}L:}",
     true},
    {".version 8.0\n.target sm_75\n.entry k() {.reg .b32 %r<200000>;", "mov.b32 %%r%u, 1;", "}",
     true},
    {".version 8.0\n.target sm_75\n.entry k() {", "{ .reg .b32 %%r<9>; mov.b32 %%r1, 1; } //%u\n",
     "}", true},
    {".version 8.0\n.target sm_75\n", ".global .b32 v%u = 1;", "", true},
    {".version 8.0\n.target sm_75\n", ".loc 1 %u 3, function_name f, inlined_at 1 7 7\n", "", true},
    {".version 8.0\n.target sm_75\n", ".loc 1 5 3, function_name f, inlined_at 1 5 3 //%u\n", "",
     true},
    {".version 8.0\n.target sm_75\n.global .b8 x[1][1][1] = {", "{", "", false},
};

START_TEST(deeply_repeated_input_hits_the_limits) {
    struct arena a = {0};
    struct err e = {0};
    char *text = repeat(&a, floods[_i].head, floods[_i].part, 100000, floods[_i].tail);
    const struct ptx_module *m = ptx_parse(&a, text, strlen(text), &e);
    ck_assert_msg(!!m == floods[_i].fine, "%s", e.text);
    arena_free(&a);
}
END_TEST

UNIT_SUITE(ptx_errors) {
    Suite *s = suite_create("ptx_errors");
    TCase *c = tcase_create("errors");
    tcase_add_loop_test(c, parse_errors_have_the_expected_message, 0,
                        (int)(sizeof errors / sizeof *errors));
    tcase_add_test(c, an_oversized_text_is_rejected_unread);
    tcase_add_loop_test(c, deeply_repeated_input_hits_the_limits, 0,
                        (int)(sizeof floods / sizeof *floods));
    suite_add_tcase(s, c);
    return s;
}
