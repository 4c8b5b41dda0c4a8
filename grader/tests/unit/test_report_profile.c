/* test_report_profile.c — tests the profile (report_profile): the order of the source's lines, and
 * their stall reasons. */
#include "common/buf.h"
#include "grader/report/report.h"
#include "grader/sim/device.h"
#include "grader/tests/unit/text_width.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

static struct result profiled(struct line_result *lines, unsigned n) {
    static const struct exercise exercise = {.name = "none", .title = "a title"};
    return (struct result){.ex = &exercise,
                           .id = "00-none/none",
                           .file = "none.cu",
                           .message = "",
                           .lines = lines,
                           .nlines = n,
                           .speed = {.note = ""}};
}

/* Of three lines the one with 90 % of the stored sectors stands first, then 10 %; the one below 1 %
 * is left out. */
START_TEST(the_hottest_line_stands_first) {
    static struct line_result lines[] = {
        {"none.cu", 1, {.global_store_sectors = 100, .global_store_requests = 25}, {0}},
        {"none.cu", 2, {.global_store_sectors = 5, .global_store_requests = 1}, {0}},
        {"none.cu", 3, {.global_store_sectors = 895, .global_store_requests = 28}, {0}}};
    struct result r = profiled(lines, 3);
    r.has_counters = true;
    r.counters.global_store_sectors = 1000, r.counters.global_store_requests = 54;
    struct buf out = {0};
    struct report_style style = {.width = 80};
    buf_puts(&r.source, "first();\nsecond();\nthird(which, is, so, long, that, it, does, not, fit, "
                        "at, all, ever);\n");
    report_profile(&r, device_find("h200"), &style, false, &out);
    const char *third = strstr(buf_str(&out), "third("), *first = strstr(buf_str(&out), "first()");
    ck_assert_msg(third && first && third < first, "%s", buf_str(&out));
    ck_assert(!strstr(buf_str(&out), "second()"));
    ck_assert(strstr(buf_str(&out), "89.5"));
    ck_assert_msg(text_is_within(buf_str(&out), 80), "%s", buf_str(&out));
    buf_free(&out), buf_free(&r.source);
}
END_TEST

/* 30 of 40 us at line 2, most of them for DRAM, 10 at a barrier: that order, though line 3 issues
 * most; both kernels are named. */
START_TEST(the_profile_shows_stalls_by_line_and_reason) {
    static struct line_result lines[] = {
        {.file = "none.cu",
         .line = 1,
         .counters = {.inst_executed = 1},
         .stall_seconds = {[SIM_STALL_BARRIER] = 10e-6}},
        {.file = "none.cu",
         .line = 2,
         .counters = {.inst_executed = 2},
         .stall_seconds =
             {[SIM_STALL_LONG_SCOREBOARD_DRAM] = 20e-6, [SIM_STALL_NOT_SELECTED] = 10e-6}},
        {.file = "none.cu", .line = 3, .counters = {.inst_executed = 97}}};
    static struct kernel_time times[] = {
        {.name = "one",
         .occupancy_limiter = "registers",
         .bound_by = "DRAM bandwidth, 72 % (next: x, 1 %)",
         .launches = 3,
         .us = 30},
        {.name = "two", .occupancy_limiter = "", .bound_by = "", .launches = 1, .us = 10}};
    struct result r = profiled(lines, 3);
    struct buf out = {0};
    struct report_style style = {.width = 100};
    r.kernel_times = times, r.nkernel_times = 2, r.counters.inst_executed = 100;
    buf_puts(&r.source, "first\nsecond\nthird\n");
    report_profile(&r, device_find("h200"), &style, false, &out);
    const char *first = strstr(buf_str(&out), "second"), *then = strstr(buf_str(&out), "third"),
               *last = strstr(buf_str(&out), "1  first ");
    ck_assert_msg(first && then && last && first < last && last < then, "%s", buf_str(&out));
    ck_assert(strstr(first, "   75.0  long scoreboard DRAM "));
    ck_assert(strstr(last, "   25.0  barrier "));
    ck_assert(strstr(
        buf_str(&out),
        "one: 75 % of the time, 3 launches, 30 µs; 0 registers, occupancy 0 % (registers); DRAM "
        "bandwidth, 72\n%\n"));
    buf_free(&out), buf_free(&r.source);
}
END_TEST

UNIT_SUITE(report_profile) {
    Suite *s = suite_create("report_profile");
    TCase *t = tcase_create("profile");
    tcase_add_test(t, the_hottest_line_stands_first);
    tcase_add_test(t, the_profile_shows_stalls_by_line_and_reason);
    suite_add_tcase(s, t);
    return s;
}
