/* test_ladder_check.c — tests the check of the counter tables in a ladder's text. */
#include "grader/cli/ladder_check.h"
#include "grader/tests/unit/unit.h"

static const char ladder[] = "# x\n\nText.\n\n"
                             "| counter | 1-naive | solution |\n|---|---|---|\n"
                             "| `global_load_threads` | 64 | 2 |\n| `barriers` | 0 | 17 |\n\n"
                             "| threads | bytes |\n|---|---|\n| `global_load_threads` | 9 |\n";

START_TEST(equal_counters_agree) {
    struct buf reason = {0};
    ck_assert(ladder_counters_agree(ladder, "1-naive",
                                    &(struct sim_counters){.global_load_threads = 64}, &reason));
    ck_assert(ladder_counters_agree(
        ladder, "solution", &(struct sim_counters){.global_load_threads = 2, .barriers = 17},
        &reason));
    ck_assert_uint_eq(reason.size, 0);
    buf_free(&reason);
}
END_TEST

START_TEST(a_differing_counter_is_reported) {
    struct buf reason = {0};
    ck_assert(!ladder_counters_agree(
        ladder, "solution", &(struct sim_counters){.global_load_threads = 3, .barriers = 17},
        &reason));
    ck_assert_str_eq(buf_str(&reason),
                     "its ladder publishes global_load_threads = 2; the grader counts 3\n");
    buf_free(&reason);
}
END_TEST

START_TEST(missing_tables_columns_and_counters_are_reported) {
    struct buf reason = {0};
    struct sim_counters none = {0};
    ck_assert(!ladder_counters_agree(ladder, "2-other", &none, &reason));
    ck_assert(!ladder_counters_agree("no table\n", "solution", &none, &reason));
    ck_assert(!ladder_counters_agree("| counter | solution |\n|---|---|\n| `no_such` | 1 |\n",
                                     "solution", &none, &reason));
    ck_assert(!ladder_counters_agree("| counter | solution |\n|---|---|\n| `barriers` | 0x0 |\n",
                                     "solution", &none, &reason));
    buf_free(&reason);
}
END_TEST

UNIT_SUITE(ladder_check) {
    Suite *s = suite_create("ladder_check");
    TCase *t = tcase_create("tables");
    tcase_add_test(t, equal_counters_agree);
    tcase_add_test(t, a_differing_counter_is_reported);
    tcase_add_test(t, missing_tables_columns_and_counters_are_reported);
    suite_add_tcase(s, t);
    return s;
}
