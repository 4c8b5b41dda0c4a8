/* test_report.c — tests the text report (grader/report): what it says first, how wide it is, how
 * it writes numbers. */
#include "grader/page/page.h"
#include "grader/report/report.h"
#include "grader/sim/device.h"
#include "grader/tests/unit/text_width.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

static const char *number(double v) {
    static struct buf b;
    buf_clear(&b);
    page_number(v, &b);
    return buf_str(&b);
}

START_TEST(numbers_are_formatted_for_people) {
    ck_assert_str_eq(number(4.5), "4.5");
    ck_assert_str_eq(number(0.0078125), "0.007812");
    ck_assert_str_eq(number(4096), "4096");
    ck_assert_str_eq(number(126976), "126 976");
    ck_assert_str_eq(number(10005), "10 005");
    ck_assert_str_eq(number(1048576), "1.05 M");
    ck_assert_str_eq(number(4.3e9), "4.3 G");
    ck_assert_str_eq(number(0), "0");
}
END_TEST

static const struct ex_case cases[] = {{.dim = {1}}, {.dim = {2}}, {.dim = {3}}};
static const struct exercise exercise = {.name = "none",
                                         .title = "a title",
                                         .cases = cases,
                                         .ncases = 3,
                                         .points = {.technique = 60, .speed = 40}};

static struct result failed(void) {
    static struct case_result list[] = {
        {.group = "correctness",
         .name = "n 1",
         .verdict = V_WA,
         .message = "1 of 1 elements of `out` are wrong"},
        {.group = "correctness",
         .name = "n 2: a label that is long enough to need a second line in eighty columns",
         .verdict = V_RTE,
         .message = "out-of-bounds: none.cu:2: kernel `k`, block (0,0,0), thread (31,0,0) writes 4 "
                    "bytes at "
                    "0x300000001640, 1596 "
                    "bytes past the end of `out` (4 bytes)"},
        {.group = "correctness",
         .name = "n 3",
         .verdict = V_WA,
         .message = "1 of 1 elements of `out` are wrong"}};
    return (struct result){.ex = &exercise,
                           .id = "00-none/none",
                           .file = "none.cu",
                           .verdict = V_RTE,
                           .max_score = 100,
                           .message = "",
                           .cases = list,
                           .ncases = 3,
                           .speed = {.note = ""}};
}

/* The fault decides, not the wrong result before it; its position comes first, in the form that
 * editors recognize. */
START_TEST(the_second_line_gives_the_first_cause) {
    struct result r = failed();
    struct buf out = {0};
    struct report_style style = {.width = 80};
    buf_puts(&r.source, "first line\n    out[i + 400] = a[i];\nlast line\n");
    report_text(&r, device_find("h200"), &style, &out);
    const char *second = strchr(buf_str(&out), '\n') + 1;
    ck_assert_msg(!strncmp(second, "none.cu:2: out-of-bounds: kernel `k`", 36), "%s",
                  buf_str(&out));
    ck_assert(strstr(buf_str(&out), "| out[i + 400] = a[i];"));
    ck_assert(strstr(buf_str(&out), "1 more WA: n 3"));
    for (const char *l = buf_str(&out); *l; l += strcspn(l, "\n") + 1)
        ck_assert_msg(text_columns(l, strcspn(l, "\n")) <= 80, "%.*s", (int)strcspn(l, "\n"), l);
    buf_free(&out), buf_free(&r.source);
}
END_TEST

/* With two figures for a goal, each is marked; figures that rounding would make equal are
 * written in full. */
START_TEST(a_line_that_the_message_quotes_is_not_quoted_again) {
    struct result r = failed();
    struct buf out = {0};
    struct report_style style = {.width = 80};
    buf_puts(&r.source, "first line\n    s[t] = a[i];\nlast line\n");
    r.cases[1].message =
        "data race in shared memory: none.cu:2: kernel `k`, writes `s[1]`\n    2 | s[t] = a[i];";
    report_text(&r, device_find("h200"), &style, &out);
    const char *first = strstr(buf_str(&out), "s[t] = a[i];");
    ck_assert_msg(first && !strstr(first + 1, "s[t] = a[i];"), "%s", buf_str(&out));
    buf_free(&out);
    buf_free(&r.source);
}
END_TEST

static unsigned count_occurrences(const char *text, const char *part) {
    unsigned n = 0;
    for (; (text = strstr(text, part)); text++) n++;
    return n;
}

/* Both figures miss their limits at the line that reads far to the right of column 80. */
static struct result two_failed_limits(void) {
    static struct technique_result list[] = {{.name = "a goal",
                                              .metric = "sectors",
                                              .value = 9,
                                              .limit = 8,
                                              .is_upper_limit = true,
                                              .reason = "why so",
                                              .file = "none.cu",
                                              .line = 2},
                                             {.name = "a goal",
                                              .metric = "excess",
                                              .value = 4,
                                              .limit = 2,
                                              .is_upper_limit = true,
                                              .reason = "why so",
                                              .file = "none.cu",
                                              .line = 2}};
    struct result r = {.ex = &exercise,
                       .id = "00-none/none",
                       .file = "none.cu",
                       .verdict = V_PART,
                       .max_score = 100,
                       .message = "",
                       .technique = list,
                       .ntechnique = 2,
                       .checks = {1, 0, 0, 0, 0.5},
                       .speed = {.note = ""}};
    buf_puts(&r.source, "first line\n    if (row < rows && column < columns) out[(size_t)column * "
                        "rows + row] = in[(size_t)row * "
                        "columns + column];\n");
    return r;
}

START_TEST(a_long_line_is_quoted_to_its_end_within_the_width) {
    struct result r = two_failed_limits();
    struct buf out = {0};
    struct report_style style = {.width = 80};
    report_text(&r, device_find("h200"), &style, &out);
    ck_assert_msg(text_is_within(buf_str(&out), 80), "%s", buf_str(&out));
    ck_assert_msg(strstr(buf_str(&out), "columns + column];\n"), "%s", buf_str(&out));
    buf_free(&out), buf_free(&r.source);
}
END_TEST

START_TEST(text_shared_by_two_limits_is_printed_once) {
    struct result r = two_failed_limits();
    struct buf out = {0};
    struct report_style style = {.width = 80};
    report_text(&r, device_find("h200"), &style, &out);
    ck_assert_msg(count_occurrences(buf_str(&out), "why so") == 1 &&
                      count_occurrences(buf_str(&out), "| if (row") == 1,
                  "%s", buf_str(&out));
    ck_assert_msg(strstr(buf_str(&out), "miss excess is 4, at most 2\n"), "%s", buf_str(&out));
    buf_free(&out), buf_free(&r.source);
}
END_TEST

/* A later goal that shares a limit with the first refers to that goal by name. */
START_TEST(text_shared_by_two_goals_is_printed_once) {
    struct result r = two_failed_limits();
    struct technique_result goals[3];
    struct buf out = {0};
    struct report_style style = {.width = 80};
    memcpy(goals, r.technique, 2 * sizeof *goals);
    goals[2] = goals[0], goals[2].test_index = 1, goals[2].name = "another goal";
    r.technique = goals, r.ntechnique = 3;
    report_text(&r, device_find("h200"), &style, &out);
    ck_assert_msg(count_occurrences(buf_str(&out), "sectors is 9, at most 8") == 2, "%s",
                  buf_str(&out)); /* head and first goal */
    ck_assert_msg(strstr(buf_str(&out), "another goal\n    miss sectors: as in \"a goal\"\n"), "%s",
                  buf_str(&out));
    buf_free(&out), buf_free(&r.source);
}
END_TEST

/* "none.cu:2: a goal" alone would read as if the goal stood there. */
START_TEST(the_first_line_says_that_a_goal_is_not_reached) {
    struct result r = two_failed_limits();
    struct buf out = {0};
    struct report_style style = {.width = 80};
    report_text(&r, device_find("h200"), &style, &out);
    ck_assert_msg(
        strstr(buf_str(&out), "\nnone.cu:2: goal not reached: a goal: sectors is 9, at most 8\n"),
        "%s", buf_str(&out));
    buf_free(&out), buf_free(&r.source);
}
END_TEST

START_TEST(a_failing_case_suggests_rerunning_it_alone) {
    struct result r = failed();
    struct buf out = {0};
    struct report_style style = {.width = 80};
    report_text(&r, device_find("h200"), &style, &out);
    ck_assert_msg(strstr(buf_str(&out), "build/grader run none --case 2 "), "%s", buf_str(&out));
    buf_free(&out);
}
END_TEST

#define FAILED(thread, what) \
    "a.cu:2: void k(): block: [0,0,0], thread: [" #thread ",0,0] Assertion `" what "` failed.\n"

START_TEST(threads_failing_the_same_assertion_are_summarized) {
    struct result r = failed();
    struct buf out = {0};
    struct report_style style = {.width = 80};
    buf_puts(&r.log, FAILED(0, "n") FAILED(1, "n") FAILED(2, "n")
                         FAILED(3, "m") "i 3\ni 3\n" FAILED(4, "m"));
    report_text(&r, device_find("h200"), &style, &out);
    ck_assert_msg(strstr(buf_str(&out),
                         "    " FAILED(0, "n") "    … and 2 more threads\n    " FAILED(
                             3, "m") "    i 3\n    "
                                     "i 3\n    " FAILED(4, "m")),
                  "%s", buf_str(&out));
    buf_free(&out), buf_free(&r.log);
}
END_TEST

START_TEST(the_first_line_shows_the_first_wrong_element) {
    struct result r = failed();
    struct buf out = {0};
    struct report_style style = {.width = 100};
    r.verdict = V_WA, r.ncases = 1;
    r.cases[0].message = "1 of 1 elements of `out` are wrong:\n  out[0]      got 1    expected 2\n";
    report_text(&r, device_find("h200"), &style, &out);
    const char *second = strchr(buf_str(&out), '\n') + 1,
               *expected = "1 of 1 elements of `out` are wrong: out[0] got 1 expected 2 (n 1)\n";
    ck_assert_msg(!strncmp(second, expected, strlen(expected)), "%s", buf_str(&out));
    buf_free(&out);
}
END_TEST

/* nvcc writes FILE(LINE), which few editors recognize. */
START_TEST(the_first_error_of_the_compiler_is_in_the_second_line) {
    struct result r = failed();
    struct buf out = {0};
    struct report_style style = {.width = 80};
    r.ncases = 0, r.verdict = V_CE;
    r.message = "none.cu(5): warning #177-D: variable \"i\" was declared but never referenced\n\n"
                "none.cu(6): error: identifier \"blokIdx\" is undefined\n    int row = "
                "blokIdx.y;\n              ^\n";
    report_text(&r, device_find("h200"), &style, &out);
    const char *second = strchr(buf_str(&out), '\n') + 1,
               *expected = "none.cu:6: error: identifier \"blokIdx\" is undefined\n";
    ck_assert_msg(!strncmp(second, expected, strlen(expected)), "%s", buf_str(&out));
    buf_free(&out);
}
END_TEST

/* On a screen of 24 lines, passed items are dropped and failed ones stay. */
START_TEST(a_brief_report_leaves_out_what_passed) {
    static struct technique_result list[] = {{.name = "a guard",
                                              .metric = "blocks",
                                              .value = 4,
                                              .limit = 8,
                                              .is_upper_limit = true,
                                              .passed = true,
                                              .reason = "",
                                              .file = "",
                                              .is_guard = true,
                                              .test_index = 1},
                                             {.name = "a goal",
                                              .metric = "threads",
                                              .value = 9,
                                              .limit = 8,
                                              .is_upper_limit = true,
                                              .reason = "why",
                                              .file = ""}};
    struct result r = two_failed_limits();
    struct buf out = {0};
    struct report_style style = {.width = 80, .brief = true};
    r.technique = list;
    report_text(&r, device_find("h200"), &style, &out);
    ck_assert_msg(!strstr(buf_str(&out), "blocks is") && !strstr(buf_str(&out), "jail"), "%s",
                  buf_str(&out));
    ck_assert_msg(strstr(buf_str(&out), "threads is 9") && strstr(buf_str(&out), "guard a guard"),
                  "%s", buf_str(&out));
    buf_free(&out), buf_free(&r.source);
}
END_TEST

static unsigned longest_line(const char *text) {
    unsigned max_width = 0;
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        max_width = n > max_width ? (unsigned)n : max_width;
    }
    return max_width;
}

/* Neither the brief report's "bound by" nor the table of several is wider than the terminal. */
START_TEST(no_line_is_wider_than_the_screen) {
    static const unsigned widths[] = {60, 80, 110};
    for (unsigned i = 0; i < 3; i++) {
        struct result r = two_failed_limits();
        const struct result *two[] = {&r, &r};
        struct buf out = {0};
        struct report_style style = {.width = widths[i], .brief = true};
        r.speed = (struct speed_result){
            .valid = true,
            .kind = "modelled",
            .note = "",
            .size = "4096",
            .student_us = 10,
            .solution_us = 5,
            .vs_solution = 0.5,
            .bound_by = "DRAM bandwidth, 92 % (next: L2 bandwidth, 48 %; ALU pipe, 24 "
                        "%) in count_kernel, which takes 96 % of the time"};
        report_text(&r, device_find("h200"), &style, &out);
        ck_assert_msg(strstr(buf_str(&out), "bound by: DRAM"), "%s", buf_str(&out));
        if (widths[i] >= 80) report_table(two, 2, &style, &out);
        ck_assert_msg(longest_line(buf_str(&out)) <= widths[i], "%u: %s", widths[i], buf_str(&out));
        buf_free(&out), buf_free(&r.source);
    }
}
END_TEST

/* Colours take no columns; a line of 81 columns takes two rows of 80. */
START_TEST(a_text_is_cut_where_the_screen_ends) {
    struct buf text = {0}, out = {0};
    struct report_style style = {.width = 80};
    buf_printf(&text, "\033[1m%080d\033[0m\n%081d\nthree\nfour\n", 1, 2);
    ck_assert_uint_eq(report_fit_rows(buf_str(&text), 5, &style, &out), 0);
    ck_assert_str_eq(buf_str(&out), buf_str(&text));
    buf_clear(&out);
    ck_assert_uint_eq(report_fit_rows(buf_str(&text), 4, &style, &out), 1);
    ck_assert_msg(strstr(buf_str(&out), "three\n") && !strstr(buf_str(&out), "four"), "%s",
                  buf_str(&out));
    buf_clear(&out);
    ck_assert_uint_eq(report_fit_rows(buf_str(&text), 2, &style, &out), 3);
    buf_free(&out), buf_free(&text);
}
END_TEST

START_TEST(markdown_is_wrapped_at_words_and_code_is_not) {
    struct buf out = {0};
    struct report_style style = {.width = 40};
    report_markdown("Some lane must read `in[r][c]`, and some\nlane must write it.\n\n- an item "
                    "whose words go on\nin "
                    "the next line\n"
                    "- two\n\n    float x = a_name_that_is_long + another_one;\n",
                    &style, &out);
    ck_assert_str_eq(buf_str(&out),
                     "Some lane must read `in[r][c]`, and some\nlane must write it.\n\n- an item "
                     "whose words go on in the next\n"
                     "line\n- two\n\n    float x = a_name_that_is_long + another_one;\n");
    buf_free(&out);
}
END_TEST

START_TEST(each_limit_of_a_goal_has_a_pass_mark) {
    static struct technique_result list[] = {{.name = "a goal",
                                              .metric = "blocks",
                                              .value = 4,
                                              .limit = 8,
                                              .is_upper_limit = true,
                                              .passed = true,
                                              .reason = "",
                                              .file = "",
                                              .goal_progress = 1},
                                             {.name = "a goal",
                                              .metric = "threads",
                                              .value = 4.50001,
                                              .limit = 4.5,
                                              .is_upper_limit = true,
                                              .reason = "why",
                                              .file = "",
                                              .has_baseline = true,
                                              .baseline_value = 32,
                                              .goal_progress = 0.5}};
    struct result r = {.ex = &exercise,
                       .id = "00-none/none",
                       .file = "none.cu",
                       .verdict = V_PART,
                       .max_score = 100,
                       .message = "",
                       .technique = list,
                       .ntechnique = 2,
                       .checks = {1, 0, 0, 0, 0.5},
                       .speed = {.note = ""}};
    struct buf out = {0};
    struct report_style style = {.width = 80};
    report_text(&r, device_find("h200"), &style, &out);
    ck_assert_msg(strstr(buf_str(&out), "FAIL goal  a goal  50 % reached\n"
                                        "         blocks is 4, at most 8\n"
                                        "    miss threads is 4.50001, at most 4.5; baseline 32\n"),
                  "%s", buf_str(&out));
    buf_free(&out);
}
END_TEST

START_TEST(the_lines_of_kernels_are_wrapped_at_words) {
    static struct kernel_time times[] = {{.name = "kick",
                                          .occupancy_limiter = "warps per SM",
                                          .bound_by = "L2 bandwidth, 69 %",
                                          .launches = 16,
                                          .registers = 19,
                                          .occupancy = 1,
                                          .us = 306.7},
                                         {.name = "drift",
                                          .occupancy_limiter = "warps per SM",
                                          .bound_by = "L2 bandwidth, 86 %",
                                          .launches = 16,
                                          .registers = 10,
                                          .occupancy = 1,
                                          .us = 241.4}};
    struct result r = two_failed_limits();
    struct buf out = {0};
    struct report_style style = {.width = 100};
    r.kernel_times = times, r.nkernel_times = 2, r.has_counters = true;
    report_profile(&r, device_find("h200"), &style, false, &out);
    ck_assert_msg(strstr(buf_str(&out), "86 %") && text_is_within(buf_str(&out), 100), "%s",
                  buf_str(&out));
    buf_free(&out), buf_free(&r.source);
}
END_TEST

static struct result scored(const char *metric, const char *bound, double vs_solution,
                            struct points actual) {
    static struct technique_result goal = {.name = "a goal", .reason = "", .file = ""};
    static struct line_result line = {
        .file = "none.cu", .line = 7, .stall_seconds = {[SIM_STALL_LG_MIO_THROTTLE] = 1e-5}};
    struct result r = failed();
    goal.metric = metric;
    r.verdict = V_PART, r.technique = &goal, r.ntechnique = 1, r.lines = &line, r.nlines = 1;
    r.speed = (struct speed_result){
        .valid = true, .kind = "modelled", .vs_solution = vs_solution, .bound_by = bound};
    r.speed_counted = true, r.available = (struct points){0, 60, 40}, r.earned = actual;
    return r;
}

START_TEST(only_instructors_see_the_sandbox) {
    struct result r = failed();
    for (int shows = 0; shows < 2; shows++) {
        struct report_style style = {.width = 100, .shows_sandbox = shows};
        struct buf out = {0};
        report_text(&r, device_at(0), &style, &out);
        ck_assert_msg((strstr(buf_str(&out), "\n  jail ") != NULL) == shows, "%s", buf_str(&out));
        buf_free(&out);
    }
}
END_TEST

/* All goals are reached and a guard about the bottleneck failed: the advice is the guard's own. */
START_TEST(a_failed_guard_is_no_missed_goal) {
    struct result r =
        scored("blocks", "DRAM bandwidth, 68 % (next: x, 1 %)", 0.11, (struct points){0, 0, 34});
    struct technique_result limits[2] = {*r.technique, *r.technique};
    struct buf out = {0};
    limits[0].passed = true;
    limits[1].is_guard = true, limits[1].metric = "global_load_sectors_per_request";
    r.technique = limits, r.ntechnique = 2;
    report_explain_score(&r, &out);
    ck_assert_str_eq(buf_str(&out), "");
    buf_free(&out);
}
END_TEST

/* Goals about sectors, but slowed by banks: the report says so, and where. Limited by what the
 * goal counts: no message. Fast without the goal: it says so. As fast as the model solution: no
 * message. */
START_TEST(the_report_explains_points_that_disagree_with_time) {
    struct result results[] = {
        scored("global_load_sectors_per_request", "shared memory wavefronts, 68 % (next: x, 1 %)",
               0.6, (struct points){0, 60, 20}),
        scored("global_load_sectors_per_request", "DRAM bandwidth, 68 % (next: x, 1 %)", 0.6,
               (struct points){0, 60, 20}),
        scored("device_read_sectors", "L1 wavefronts, 75 % (next: x, 1 %)", 0.73,
               (struct points){0, 0, 34}),
        scored("device_read_sectors", "shared memory wavefronts, 75 %", 0.95,
               (struct points){0, 60, 40})};
    static const char *const expected[] = {
        "The goals limit memory traffic, but the time is bound by shared memory wavefronts "
        "(100 % of the time at none.cu:7; top stall reason: LG/MIO throttle). Progress towards a "
        "goal may not save time here.",
        "", "This version has 85 % of the speed points but 0 % of the technique points", ""};
    static const char *const metrics[] = {"global_load_sectors_per_request",
                                          "global_load_sectors_per_request", "device_read_sectors",
                                          "device_read_sectors"};
    for (unsigned i = 0; i < 4; i++) {
        struct buf out = {0};
        results[i].technique->metric = metrics[i];
        report_explain_score(&results[i], &out);
        if (i == 2)
            ck_assert_msg(!strncmp(buf_str(&out), expected[i], strlen(expected[i])), "%s",
                          buf_str(&out));
        else ck_assert_str_eq(buf_str(&out), expected[i]);
        buf_free(&out);
    }
}
END_TEST

UNIT_SUITE(report) {
    Suite *s = suite_create("report");
    TCase *t = tcase_create("text");
    tcase_add_test(t, numbers_are_formatted_for_people);
    tcase_add_test(t, the_second_line_gives_the_first_cause);
    tcase_add_test(t, a_line_that_the_message_quotes_is_not_quoted_again);
    tcase_add_test(t, a_long_line_is_quoted_to_its_end_within_the_width);
    tcase_add_test(t, text_shared_by_two_limits_is_printed_once);
    tcase_add_test(t, text_shared_by_two_goals_is_printed_once);
    tcase_add_test(t, the_first_line_says_that_a_goal_is_not_reached);
    tcase_add_test(t, a_failing_case_suggests_rerunning_it_alone);
    tcase_add_test(t, threads_failing_the_same_assertion_are_summarized);
    tcase_add_test(t, the_first_line_shows_the_first_wrong_element);
    tcase_add_test(t, the_first_error_of_the_compiler_is_in_the_second_line);
    tcase_add_test(t, a_brief_report_leaves_out_what_passed);
    tcase_add_test(t, no_line_is_wider_than_the_screen);
    tcase_add_test(t, a_text_is_cut_where_the_screen_ends);
    tcase_add_test(t, markdown_is_wrapped_at_words_and_code_is_not);
    tcase_add_test(t, each_limit_of_a_goal_has_a_pass_mark);
    tcase_add_test(t, the_lines_of_kernels_are_wrapped_at_words);
    tcase_add_test(t, the_report_explains_points_that_disagree_with_time);
    tcase_add_test(t, a_failed_guard_is_no_missed_goal);
    tcase_add_test(t, only_instructors_see_the_sandbox);
    suite_add_tcase(s, t);
    return s;
}
