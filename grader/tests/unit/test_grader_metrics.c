/* test_grader_metrics.c — tests metrics and the choice of the line to blame, on counters written
 * by hand. */
#include "grader/grade/metrics.h"
#include "grader/tests/unit/unit.h"

#include <math.h>

static struct launch_stats_line lines[] = {
    {.file = (char *)"",
     .line = 0,
     .counters = {.global_load_sectors = 999, .global_load_requests = 1}},
    {.file = (char *)"helper.h",
     .line = 3,
     .counters = {.global_load_sectors = 640, .global_load_requests = 20}},
    {.file = (char *)"k.cu",
     .line = 7,
     .counters = {.global_load_sectors = 400,
                  .global_load_requests = 100,
                  .global_store_threads = 10}},
    {.file = (char *)"k.cu",
     .line = 9,
     .counters = {.global_load_sectors = 320,
                  .global_load_requests = 10,
                  .global_store_threads = 5}},
};
static struct launch_stats tally = {.lines = lines,
                                    .nlines = 4,
                                    .launches = 2,
                                    .occupancy = 0.5,
                                    .counters = {.global_load_sectors = 720,
                                                 .global_load_requests = 110,
                                                 .global_store_threads = 15,
                                                 .shared_load_bank_conflicts = 3,
                                                 .shared_store_bank_conflicts = 4}};

static double value(const char *name) {
    const struct metric *m = metric_find(name);
    ck_assert_msg(m != NULL, "%s", name);
    return metric_value(m, &tally);
}

START_TEST(metrics_are_computed_from_counters) {
    ck_assert_double_eq_tol(value("global_load_sectors_per_request"), 720.0 / 110.0, 1e-12);
    ck_assert_double_eq(value("bank_conflicts"), 7);
    struct launch_stats copies = {
        .counters = {.async_copy_byte_distance = 51200, .inst_executed = 400}};
    ck_assert_double_eq(metric_value(metric_find("async_copy_bytes_in_flight"), &copies), 128);
    ck_assert_double_eq(value("global_store_threads"), 15);
    ck_assert_double_eq(value("theoretical_occupancy"), 0.5);
    ck_assert_double_eq(value("launches"), 2);
}
END_TEST

/* 4.8 MB on an MX330 (48 GB/s): in and out, 200 us; a column of 100 000 floats is a sector
 * each, 3.2 MB in, and 0.4 MB out: 75 us; a fill of 2.4 MB, 50 us. */
START_TEST(copies_and_fills_add_to_the_modelled_time) {
    struct launch_stats t = {.seconds = 1e-3, .low = 0.5e-3, .high = 2e-3};
    struct server_transfers m = {.copied_bytes = 5200000,
                                 .copied_sectors_read = 150000 + 100000,
                                 .copied_sectors_written = 150000 + 12500,
                                 .filled_bytes = 2400000,
                                 .filled_sectors = 75000};
    launch_stats_add_transfers(&t, device_find("mx330"), &m);
    ck_assert_double_eq_tol(t.seconds, 1.325e-3, 1e-9);
    ck_assert_double_eq_tol(t.low, 0.825e-3, 1e-9);
    ck_assert_double_eq_tol(t.high, 2.325e-3, 1e-9);
    ck_assert_double_eq(metric_value(metric_find("copied_bytes"), &t), 5.2e6);
    ck_assert_double_eq(metric_value(metric_find("filled_bytes"), &t), 2.4e6);
    ck_assert_double_eq(metric_value(metric_find("device_read_sectors"), &t), 250000);
    ck_assert_double_eq(metric_value(metric_find("device_write_sectors"), &t), 162500 + 75000);
    ck_assert_double_eq(metric_value(metric_find("device_read_accesses"), &t), 325000);
    ck_assert_double_eq(metric_value(metric_find("device_write_accesses"), &t), 325000 + 150000);
    ck_assert_double_eq(metric_value(metric_find("device_read_requests"), &t), 5.2e6 / 512);
    ck_assert_double_eq(metric_value(metric_find("device_write_requests"), &t), 7.6e6 / 512);
    ck_assert_double_eq(metric_value(metric_find("read_amplification"), &t), 250000 / 162500.0);
    ck_assert_double_eq(metric_value(metric_find("write_amplification"), &t), 237500 / 237500.0);
    ck_assert_double_eq(metric_value(metric_find("excessive_read_sectors"), &t), 87500);
    ck_assert_double_eq(metric_value(metric_find("excessive_write_sectors"), &t), 0);
}
END_TEST

/* A hundred copies after_kernel a kernel take 0.72 of a launch each; without a kernel the first
 * takes all of it. Of fills, 0.26. */
START_TEST(each_copy_costs_its_start) {
    const struct gpu_device *d = device_find("h200");
    struct server_transfers m = {.copies = 100,
                                 .copied_bytes = 1600,
                                 .copied_sectors_read = 100,
                                 .copied_sectors_written = 50};
    struct launch_stats after_kernel = {.launches = 1}, kernel_only = {0};
    double sectors = 150 * 32 / d->dram_rate;
    launch_stats_add_transfers(&after_kernel, d, &m),
        launch_stats_add_transfers(&kernel_only, d, &m);
    ck_assert_double_eq_tol(after_kernel.seconds, 72 * d->launch_seconds + sectors, 1e-12);
    ck_assert_double_eq_tol(kernel_only.seconds, 72.28 * d->launch_seconds + sectors, 1e-12);
    ck_assert(after_kernel.low > 72 * d->launch_seconds &&
              after_kernel.high > 72 * d->launch_seconds);
    m = (struct server_transfers){.fills = 50};
    after_kernel = (struct launch_stats){.launches = 1};
    launch_stats_add_transfers(&after_kernel, d, &m);
    ck_assert_double_eq_tol(after_kernel.seconds, 13 * d->launch_seconds, 1e-12);
    m = (struct server_transfers){0};
    kernel_only = (struct launch_stats){0};
    launch_stats_add_transfers(&kernel_only, d, &m);
    ck_assert_double_eq(kernel_only.seconds, 0);
}
END_TEST

/* Each path has a different count, so that a sum that omits one, or counts one twice, is
 * detected. */
START_TEST(traffic_metrics_sum_every_memory_path) {
    struct launch_stats t = {
        .counters = {.inst_executed = 10, /* of 320 lanes 270 took part */
                     .thread_inst_executed = 270,
                     .global_load_sectors = 1,
                     .global_store_sectors = 2,
                     .atomic_sectors = 30, /* of which 10 of atomics whose result is used */
                     .atomic_result_sectors = 10,
                     .const_sectors = 100,
                     .bulk_load_sectors = 1000,
                     .bulk_store_sectors = 2000,
                     .global_load_threads = 1,
                     .global_store_threads = 2,
                     .atomic_threads = 10,
                     .reduction_threads = 20,
                     .const_load_threads = 100,
                     .bulk_load_bytes = 16000,
                     .bulk_store_bytes = 32000,
                     .global_load_requests = 1,
                     .global_store_requests = 2,
                     .atomic_requests = 10,
                     .reduction_requests = 20,
                     .const_requests = 100,
                     .bulk_load_requests = 1000,
                     .bulk_store_requests = 2000,
                     .global_load_sectors_ideal = 11,
                     .atomic_result_sectors_ideal = 100,
                     .const_sectors_ideal = 500,
                     .global_store_sectors_ideal = 16,
                     .atomic_sectors_ideal = 1000,
                     .shared_load_requests = 1,
                     .shared_store_requests = 2,
                     .shared_atomic_requests = 10,
                     .bulk_shared_load_bytes = 51200,
                     .bulk_shared_store_bytes = 512000,
                     .shared_load_bank_conflicts = 1,
                     .shared_store_bank_conflicts = 2,
                     .shared_atomic_bank_conflicts = 10}};
    static const struct {
        const char *name;
        double value;
    } expected[] = {{"device_read_sectors", 1111},
                    {"device_write_sectors", 2032},
                    {"device_read_accesses", 1111},
                    {"device_write_accesses", 2032},
                    {"device_read_requests", 1111},
                    {"device_write_requests", 2032},
                    /* 1111 / (11 + 100 + 500 + 500), 2032 / (16 + 1000 + 1000) */
                    {"read_amplification", 1},
                    {"excessive_read_sectors", 0},
                    {"excessive_write_sectors", 2032 - 2016},
                    {"write_amplification", 2032.0 / 2016},
                    {"shared_read_requests_total", 111},
                    {"shared_write_requests_total", 1012},
                    {"shared_requests_total", 1113},
                    {"inactive_lanes", 50},
                    {"bank_conflicts", 13}};
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_msg(
            fabs(metric_value(metric_find(expected[i].name), &t) - expected[i].value) < 1e-3,
            "%s is %g", expected[i].name, metric_value(metric_find(expected[i].name), &t));
}
END_TEST

START_TEST(metrics_of_an_empty_launch_are_neutral) {
    ck_assert_double_eq(value("global_store_sectors_per_request"), 0); /* no stores: no bad ones */
    ck_assert_double_eq(value("global_store_efficiency"), 1);
    ck_assert_double_eq(value("lanes_per_instruction"), 32);
    ck_assert_ptr_null(metric_find("no_such_metric"));
}
END_TEST

static unsigned blamed_line(const char *name, const char *file, double per, double limit,
                            bool at_most) {
    const struct launch_stats_line *l =
        metric_line(metric_find(name), &tally, file, per, limit, at_most);
    return l ? l->line : 0;
}

/* Line 7 loads more sectors, line 9 wastes more of each: a ratio blames 9, a sum blames 7. */
START_TEST(a_failed_limit_is_attributed_to_the_right_line) {
    ck_assert_uint_eq(blamed_line("global_load_sectors_per_request", "k.cu", 1, 4, true), 9);
    ck_assert_uint_eq(blamed_line("global_load_sectors", "k.cu", 1, 4, true), 7);
    ck_assert_uint_eq(blamed_line("global_store_threads", "k.cu", 5, 1, true), 7);
    ck_assert_uint_eq(blamed_line("bank_conflicts", "k.cu", 1, 0, true), 0);
    ck_assert_uint_eq(blamed_line("theoretical_occupancy", "k.cu", 1, 0.9, false), 0);
    ck_assert_uint_eq(blamed_line("global_load_sectors_per_request", "other.cu", 1, 4, true),
                      3); /* else any file that has a line */
}
END_TEST

START_TEST(counters_by_name) {
    ck_assert_uint_gt(sim_counter_count(), 20);
    for (unsigned i = 0; i < sim_counter_count(); i++)
        ck_assert_ptr_nonnull(metric_find(sim_counter_name(i)));
}
END_TEST

/* docs/json.md keeps the names of schema 1 for one version. */
START_TEST(a_renamed_counter_or_metric_is_found_by_its_old_name) {
    ck_assert_ptr_eq(metric_find("sectors_load"), metric_find("global_load_sectors"));
    ck_assert_ptr_eq(metric_find("sectors_read"), metric_find("device_read_sectors"));
    ck_assert_ptr_null(metric_find("sectors"));
    unsigned renamed = 0;
    for (unsigned i = 0; i < sim_counter_count(); i++) renamed += sim_counter_name_v1(i) != NULL;
    ck_assert_uint_eq(renamed, 44);
}
END_TEST

UNIT_SUITE(grader_metrics) {
    Suite *s = suite_create("grader_metrics");
    TCase *t = tcase_create("metrics");
    tcase_add_test(t, each_copy_costs_its_start);
    tcase_add_test(t, metrics_are_computed_from_counters);
    tcase_add_test(t, copies_and_fills_add_to_the_modelled_time);
    tcase_add_test(t, traffic_metrics_sum_every_memory_path);
    tcase_add_test(t, metrics_of_an_empty_launch_are_neutral);
    tcase_add_test(t, a_failed_limit_is_attributed_to_the_right_line);
    tcase_add_test(t, counters_by_name);
    tcase_add_test(t, a_renamed_counter_or_metric_is_found_by_its_old_name);
    suite_add_tcase(s, t);
    return s;
}
