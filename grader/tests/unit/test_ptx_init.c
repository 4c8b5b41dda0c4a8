/* test_ptx_init.c — tests the initial values of PTX variables against bytes written by hand. */
#include "grader/sim/ptx/ptx.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

static struct arena arena;

static void release(void) { arena_free(&arena); }

/* Returns the variable x of a module that also has a function f and a variable y. */
static const struct ptx_var *variable(const char *declaration) {
    struct err e = {0};
    char *text = rig_printf(
        &arena, ".version 8.0\n.target sm_75\n.func f();\n.global .b8 y[64];\n%s\n", declaration);
    const struct ptx_module *m = ptx_parse(&arena, text, strlen(text), &e);
    ck_assert_msg(m != NULL, "%s", e.text);
    return ptx_module_var(m, "x");
}

static const struct {
    const char *text;
    unsigned bytes;
    uint8_t expected[32];
} values[] = {
    {".global .u32 x = 7;", 4, {7}},
    {".global .u32 x = -7;", 4, {0xf9, 0xff, 0xff, 0xff}},
    {".global .u8 x = -1;", 1, {0xff}},
    {".const .align 8 .u64 x = 4629700416937001057;", 8, {0x61, 0, 2, 0, 0, 0, 0x40, 0x40}},
    {".global .f32 x = 0f3F800000;", 4, {0, 0, 0x80, 0x3f}},
    {".global .f32 x = 1.5;", 4, {0, 0, 0xc0, 0x3f}},
    {".global .f32 x = -2;", 4, {0, 0, 0, 0xc0}},
    {".global .f64 x = 0f3F800000;", 8, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
    {".global .b32 x = 0f3F800000;", 4, {0, 0, 0x80, 0x3f}},
    {".global .align 2 .b8 x[4] = {255, 255, 2};", 4, {255, 255, 2, 0}},
    {".global .b16 x[] = {1, 0x203};", 4, {1, 0, 3, 2}},
    {".global .b8 x[2][3] = {{1, 2}, {4}};", 6, {1, 2, 0, 4, 0, 0}},
    {".global .b8 x[2][3] = {1, 2, 3, 4};", 6, {1, 2, 3, 4, 0, 0}},
    {".global .b8 x[2][2][2] = {{{1}, {2}}, {{3, 4}}};", 8, {1, 0, 2, 0, 3, 4, 0, 0}},
    {".global .v2 .u16 x[2] = {{1, 2}, {3, 4}};", 8, {1, 0, 2, 0, 3, 0, 4, 0}},
};

START_TEST(initializers_give_the_expected_bytes) {
    const struct ptx_var *x = variable(values[_i].text);
    ck_assert_uint_eq(x->bytes, values[_i].bytes);
    ck_assert_mem_eq(x->init, values[_i].expected, x->bytes);
    ck_assert_uint_eq(x->nrelocs, 0);
}
END_TEST

static void check_reloc(const struct ptx_reloc *r, size_t offset, const char *symbol,
                        int64_t addend, bool generic) {
    ck_assert_uint_eq(r->offset, offset);
    ck_assert_uint_eq(r->size, 8);
    ck_assert_str_eq(r->symbol, symbol);
    ck_assert_int_eq(r->addend, addend);
    ck_assert_int_eq(r->generic, generic);
}

START_TEST(addresses_in_initializers_become_relocations) {
    const struct ptx_var *x =
        variable(".global .u64 x[6] = {f, y, y+4, generic(y)+12, 5, generic(y-8)};");
    ck_assert_uint_eq(x->nrelocs, 5);
    check_reloc(&x->relocs[0], 0, "f", 0, false);
    check_reloc(&x->relocs[1], 8, "y", 0, false);
    check_reloc(&x->relocs[2], 16, "y", 4, false);
    check_reloc(&x->relocs[3], 24, "y", 12, true);
    check_reloc(&x->relocs[4], 40, "y", -8, true);
    ck_assert_uint_eq(x->init[32], 5);
}
END_TEST

/* A byte array with an address in the middle, as nvcc writes a packed structure. */
START_TEST(masked_address_bytes_become_one_relocation) {
    const struct ptx_var *x = variable(
        ".global .align 8 .b8 x[26] = {1, 0xFF(y+4), 0xFF00(y+4), 0xFF0000(y+4), 0xFF000000(y+4), "
        "0xFF00000000(y+4), "
        "0xFF0000000000(y+4), 0xFF000000000000(y+4), 0xFF00000000000000(y+4), 9, 0xFF(generic(f)), "
        "0xFF00(generic(f)), "
        "0xFF0000(generic(f)), 0xFF000000(generic(f)), 0xFF00000000(generic(f)), "
        "0xFF0000000000(generic(f)), "
        "0xFF000000000000(generic(f)), 0xFF00000000000000(generic(f)), 3};");
    ck_assert_uint_eq(x->nrelocs, 2);
    check_reloc(&x->relocs[0], 1, "y", 4, false);
    check_reloc(&x->relocs[1], 10, "f", 0, true);
    ck_assert_uint_eq(x->init[0], 1);
    ck_assert_uint_eq(x->init[9], 9);
    ck_assert_uint_eq(x->init[18], 3);
}
END_TEST

START_TEST(initializers_may_reference_later_symbols) {
    const struct ptx_var *x = variable(".global .u64 x = late;\n.global .u64 late = x;");
    check_reloc(&x->relocs[0], 0, "late", 0, false);
}
END_TEST

START_TEST(arrays_without_initializers_have_their_size) {
    const struct ptx_var *x = variable(".extern .shared .align 16 .b8 x[];");
    ck_assert_uint_eq(x->bytes, 0);
    ck_assert_uint_eq(x->align, 16);
    ck_assert(x->is_extern && x->space == PTX_SHARED && !x->init);
    x = variable(".global .attribute(.managed) .align 4 .b8 x[1073741824];");
    ck_assert_uint_eq(x->bytes, 1 << 30);
    ck_assert(x->is_managed && !x->init);
    x = variable(".visible .const .v4 .f32 x[3];");
    ck_assert_uint_eq(x->bytes, 48);
    ck_assert_uint_eq(x->align, 16);
    x = variable(".extern .global .u32 x;\n.weak .global .u32 x = 3;");
    ck_assert(!x->is_extern && x->is_weak && x->init[0] == 3);
}
END_TEST

UNIT_SUITE(ptx_init) {
    Suite *s = suite_create("ptx_init");
    TCase *c = tcase_create("initial values");
    tcase_add_checked_fixture(c, NULL, release);
    tcase_add_loop_test(c, initializers_give_the_expected_bytes, 0,
                        (int)(sizeof values / sizeof *values));
    tcase_add_test(c, addresses_in_initializers_become_relocations);
    tcase_add_test(c, masked_address_bytes_become_one_relocation);
    tcase_add_test(c, initializers_may_reference_later_symbols);
    tcase_add_test(c, arrays_without_initializers_have_their_size);
    suite_add_tcase(s, c);
    return s;
}
