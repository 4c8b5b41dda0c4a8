/* test_grow.c — tests growing arrays: they keep their contents, and a size that overflows ends
 * the program. */
#include "common/arena.h"
#include "common/grow.h"
#include "grader/tests/unit/unit.h"

#include <stdint.h>
#include <stdlib.h>

START_TEST(growing_preserves_the_elements) {
    struct arena a = {0};
    unsigned *list = NULL, *moved = NULL, *pushed = NULL, n = 0, npushed = 0;
    unsigned capacity = 0, arena_capacity = 0;
    for (; n < 1000; n++) {
        GROW(list, n + 1, capacity, 3);
        ARENA_GROW(&a, moved, n, n + 1, arena_capacity, 5);
        list[n] = moved[n] = 7 * n;
        ck_assert_uint_eq(ARENA_PUSH(&a, pushed, npushed, 7 * n), n);
    }
    for (unsigned i = 0; i < n; i++)
        ck_assert(list[i] == 7 * i && moved[i] == 7 * i && pushed[i] == 7 * i);
    ck_assert_uint_eq(capacity, 3 << 9);
    ck_assert_uint_eq(arena_capacity, 5 << 8);
    free(list);
    arena_free(&a);
}
END_TEST

START_TEST(capacity_doubles_up_to_the_limit) {
    ck_assert_uint_eq(grow_capacity(0, 1, 16, 8, SIZE_MAX), 16);
    ck_assert_uint_eq(grow_capacity(16, 17, 16, 8, SIZE_MAX), 32);
    ck_assert_uint_eq(grow_capacity(16, 100, 16, 8, SIZE_MAX), 128);
    ck_assert_uint_eq(grow_capacity(1u << 31, 1u << 31, 16, 1, UINT32_MAX), 1u << 31);
}
END_TEST

START_TEST(growing_beyond_the_element_limit_aborts) {
    grow_capacity(1u << 31, (1u << 31) + 1u, 16, 1, UINT32_MAX);
}
END_TEST
START_TEST(growing_beyond_the_byte_limit_aborts) {
    grow_capacity(SIZE_MAX / 8, SIZE_MAX / 8 + 1, 16, 8, SIZE_MAX);
}
END_TEST

UNIT_SUITE(grow) {
    Suite *s = suite_create("grow");
    TCase *t = tcase_create("arrays");
    tcase_add_test(t, growing_preserves_the_elements);
    tcase_add_test(t, capacity_doubles_up_to_the_limit);
    tcase_add_exit_test(t, growing_beyond_the_element_limit_aborts, 3);
    tcase_add_exit_test(t, growing_beyond_the_byte_limit_aborts, 3);
    suite_add_tcase(s, t);
    return s;
}
