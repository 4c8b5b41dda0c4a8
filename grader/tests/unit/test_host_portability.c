/* test_host_portability.c — tests that what C leaves to the processor is the same on every
 * processor that we compile this tree for. */
#include "grader/sim/mem/mem.h"
#include "grader/tests/unit/unit.h"

#include <string.h>
#include <unistd.h>

/* 0xe9, the first byte of é in Latin-1, is below zero as a char. */
START_TEST(plain_char_is_signed) {
    volatile char c = (char)0xe9;
    ck_assert_int_eq(c, 0xe9 - 256);
}
END_TEST

/* (1 + 2^-27)^2 = 1 + 2^-26 + 2^-54: the last term is lost where the product is rounded, and kept
 * by a fused multiply-add. */
START_TEST(products_are_not_contracted_to_fma) {
    volatile double a = 1 + 0x1p-27, b = 1 + 0x1p-26;
    double x = a, y = b;
    ck_assert_double_eq(x * x - y, 0.0);
    ck_assert_double_eq(__builtin_fma(x, x, -y), 0x1p-54);
}
END_TEST

/* Ranges that are mapped, freed or shared must begin and end at a page of the kernel. */
START_TEST(device_memory_is_page_aligned) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct memory m;
    struct err e = {0};
    ck_assert_uint_eq(memory_page_size() % page, 0);
    ck_assert_msg(memory_open(&m, 64 << 20, &e), "%s", e.text);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(memory_alloc_pages(&m, 100 + i, "buffer") % page, 0);
    memory_close(&m);
}
END_TEST

/* Freeing a range must keep the bytes around it, wherever it begins and ends. */
START_TEST(zeroing_leaves_neighbours_alone) {
    enum { BYTES = 4 << 20 };
    struct memory m;
    struct err e = {0};
    ck_assert_msg(memory_open(&m, 64 << 20, &e), "%s", e.text);
    uint64_t at = memory_alloc(&m, BYTES, "all"), from = 4096 + 512, n = 2 << 20;
    unsigned char *p = m.bytes + (at - SIM_BASE);
    memset(p, 7, BYTES);
    memory_zero(&m, at + from, n);
    ck_assert_int_eq(p[from - 1], 7);
    ck_assert_int_eq(p[from], 0);
    ck_assert_int_eq(p[from + n - 1], 0);
    ck_assert_int_eq(p[from + n], 7);
    memory_close(&m);
}
END_TEST

UNIT_SUITE(host_portability) {
    Suite *s = suite_create("host_portability");
    TCase *tc = tcase_create("processor");
    tcase_add_test(tc, plain_char_is_signed);
    tcase_add_test(tc, products_are_not_contracted_to_fma);
    tcase_add_test(tc, device_memory_is_page_aligned);
    tcase_add_test(tc, zeroing_leaves_neighbours_alone);
    suite_add_tcase(s, tc);
    return s;
}
