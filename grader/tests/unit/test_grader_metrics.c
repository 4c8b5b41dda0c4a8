/* test_grader_metrics.c — metrics and the line to blame, on counters written by hand. */
#include "grader/grade/metrics.h"
#include "grader/tests/unit/unit.h"

static struct tally_line lines[] = {
    {.file = (char *)"", .line = 0, .counters = {.sectors_load = 999, .requests_load = 1}},
    {.file = (char *)"helper.h", .line = 3, .counters = {.sectors_load = 640, .requests_load = 20}},
    {.file = (char *)"k.cu", .line = 7, .counters = {.sectors_load = 400, .requests_load = 100, .thread_stores = 10}},
    {.file = (char *)"k.cu", .line = 9, .counters = {.sectors_load = 320, .requests_load = 10, .thread_stores = 5}},
};
static struct tally tally = {.lines = lines,
                             .nlines = 4,
                             .launches = 2,
                             .occupancy = 0.5,
                             .counters = {.sectors_load = 720,
                                          .requests_load = 110,
                                          .thread_stores = 15,
                                          .bank_conflicts_load = 3,
                                          .bank_conflicts_store = 4}};

static double value(const char *name) {
    const struct metric *m = metric_find(name);
    ck_assert_msg(m != NULL, "%s", name);
    return metric_value(m, &tally);
}

START_TEST(values) {
    ck_assert_double_eq_tol(value("sectors_per_request_load"), 720.0 / 110.0, 1e-12);
    ck_assert_double_eq(value("bank_conflicts"), 7);
    ck_assert_double_eq(value("thread_stores"), 15);
    ck_assert_double_eq(value("theoretical_occupancy"), 0.5);
    ck_assert_double_eq(value("launches"), 2);
}
END_TEST

/* 4.8 MB on an MX330 (48 GB/s): in and out, 200 us. */
START_TEST(copies) {
    struct tally t = {.seconds = 1e-3, .low = 0.5e-3, .high = 2e-3};
    tally_copied(&t, device_find("mx330"), 4.8e6);
    ck_assert_double_eq_tol(t.seconds, 1.2e-3, 1e-9);
    ck_assert_double_eq_tol(t.low, 0.7e-3, 1e-9);
    ck_assert_double_eq_tol(t.high, 2.2e-3, 1e-9);
    ck_assert_double_eq(metric_value(metric_find("copied_bytes"), &t), 4.8e6);
}
END_TEST

START_TEST(nothing_counted) {
    ck_assert_double_eq(value("sectors_per_request_store"), 0); /* no stores: no bad ones */
    ck_assert_double_eq(value("store_efficiency"), 1);
    ck_assert_double_eq(value("lanes_per_instruction"), 32);
    ck_assert_ptr_null(metric_find("no_such_metric"));
}
END_TEST

static unsigned blamed(const char *name, const char *file, double per, double limit, bool at_most) {
    const struct tally_line *l = metric_line(metric_find(name), &tally, file, per, limit, at_most);
    return l ? l->line : 0;
}

/* Line 7 loads more sectors, line 9 loads them badly: a ratio blames 9, a sum blames 7. */
START_TEST(blame) {
    ck_assert_uint_eq(blamed("sectors_per_request_load", "k.cu", 1, 4, true), 9);
    ck_assert_uint_eq(blamed("sectors_load", "k.cu", 1, 4, true), 7);
    ck_assert_uint_eq(blamed("thread_stores", "k.cu", 5, 1, true), 7);
    ck_assert_uint_eq(blamed("bank_conflicts", "k.cu", 1, 0, true), 0);
    ck_assert_uint_eq(blamed("theoretical_occupancy", "k.cu", 1, 0.9, false), 0);
    ck_assert_uint_eq(blamed("sectors_per_request_load", "other.cu", 1, 4, true),
                      3); /* else any file that has a line */
}
END_TEST

START_TEST(counters_by_name) {
    ck_assert_uint_gt(sim_counter_count(), 20);
    for (unsigned i = 0; i < sim_counter_count(); i++) ck_assert_ptr_nonnull(metric_find(sim_counter_name(i)));
}
END_TEST

UNIT_SUITE(grader_metrics) {
    Suite *s = suite_create("grader_metrics");
    TCase *t = tcase_create("metrics");
    tcase_add_test(t, values);
    tcase_add_test(t, copies);
    tcase_add_test(t, nothing_counted);
    tcase_add_test(t, blame);
    tcase_add_test(t, counters_by_name);
    suite_add_tcase(s, t);
    return s;
}
