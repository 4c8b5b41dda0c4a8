/* test_pages.c — tests the HTML pages (grader/page, grader/report): they parse, load nothing
 * from elsewhere, show a submission's words as text, and show the figures of the result. */
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/versions.h"
#include "grader/page/page.h"
#include "grader/report/report.h"
#include "grader/sim/device.h"
#include "grader/tests/unit/markup.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char evil[] = "</td></table><script>alert(1)</script> & \"quotes\" 'x' \x01";

static const struct ex_case cases[] = {{.dim = {1}}};
static const struct exercise exercise = {.name = "none",
                                         .title = "a title",
                                         .cases = cases,
                                         .ncases = 1,
                                         .points = {.technique = 60, .speed = 40}};

/* Every text that a submission can influence is hostile here. */
static struct result hostile(void) {
    static struct case_result list[] = {
        {.group = "correctness", .name = evil, .verdict = V_RTE, .message = evil}};
    static struct technique_result checks[] = {{.name = "a goal",
                                                .metric = "global_load_sectors",
                                                .value = 126976,
                                                .limit = 4.5,
                                                .reason = evil,
                                                .file = evil,
                                                .line = 3,
                                                .is_upper_limit = true,
                                                .has_baseline = true,
                                                .baseline_value = 262144,
                                                .goal_progress = 0.25,
                                                .unit = evil}};
    static struct line_result lines[] = {
        {.file = "none.cu",
         .line = 1,
         .counters = {.branches = 8, .divergent_branches = 2},
         .stall_seconds = {[SIM_STALL_LONG_SCOREBOARD_DRAM] = 1e-5}}};
    static struct kernel_time times[] = {{.name = evil,
                                          .occupancy_limiter = evil,
                                          .bound_by = evil,
                                          .launches = 3,
                                          .grid = {7, 1, 1},
                                          .block = {96, 1, 1},
                                          .registers = 37,
                                          .occupancy = 0.625,
                                          .us = 20}};
    static struct access_result accesses[2];
    static struct point_loss missing[] = {{12.5, "goal", evil}};
    accesses[0] = (struct access_result){
        evil, {.file = "none.cu", .line = 1, .mask = ~0u, .lane_bytes = 4, .cost = 32}};
    for (unsigned l = 0; l < 32; l++) accesses[0].access.offset[l] = 32 * l;
    accesses[1] = accesses[0], accesses[1].access.is_shared = true, accesses[1].access.cost = 8;
    return (struct result){.ex = &exercise,
                           .id = "00-none/none",
                           .file = "none.cu",
                           .verdict = V_PART,
                           .score = 43.2,
                           .max_score = 100,
                           .message = evil,
                           .cases = list,
                           .ncases = 1,
                           .technique = checks,
                           .ntechnique = 1,
                           .lines = lines,
                           .nlines = 1,
                           .kernel_times = times,
                           .nkernel_times = 1,
                           .accesses = accesses,
                           .naccesses = 2,
                           .points_lost = missing,
                           .npoints_lost = 1,
                           .has_counters = true,
                           .counters = {.inst_executed = 4711},
                           .speed = {.valid = true,
                                     .kind = "modelled",
                                     .student_us = 20,
                                     .solution_us = 10,
                                     .baseline_us = 40,
                                     .vs_solution = 0.5,
                                     .bytes = 1e6,
                                     .flops = 1e7,
                                     .size = evil,
                                     .bound_by = evil,
                                     .note = evil,
                                     .roofline_fraction = 0.1,
                                     .is_timed_size = true}};
}

static void write_page(struct result *r, struct buf *out) {
    struct version versions[] = {{.name = "naive", .result = *r, .us = 40},
                                 {.name = "2-step", .result = *r, .us = 30},
                                 {.name = "solution", .result = *r, .us = 10}};
    struct report_history_entry runs[] = {
        {.graded_at = 1700000000, .verdict = "WA", .kind = "-"},
        {.graded_at = 1700000600, .verdict = "PART", .kind = "modelled", .score = 43.2, .us = 20}};
    struct report_context b = {versions, 3, runs, 2};
    buf_puts(&r->source, evil), buf_puts(&r->source, "\n");
    buf_puts(&r->log, evil);
    report_html(r, device_find("h200"), &b, out);
}

START_TEST(a_page_is_valid_and_self_contained) {
    struct result r = hostile();
    struct buf out = {0};
    write_page(&r, &out);
    const char *page = buf_str(&out), *fault = markup_fault(page, 0);
    ck_assert_msg(!fault, "%s", fault);
    ck_assert(strstr(page, "content=\"default-src 'none'; style-src 'sha256-"));
    for (const char *p = page; (p = strstr(p, "http")); p += 4)
        ck_assert_msg(!strncmp(p, "http-equiv", 10), "%.40s", p);
    buf_free(&out), buf_free(&r.source), buf_free(&r.log);
}
END_TEST

START_TEST(the_axis_of_points_reaches_all_points) {
    struct result r = hostile();
    struct buf out = {0};
    write_page(&r, &out);
    const char *chart = strstr(buf_str(&out), "Score by run");
    ck_assert_ptr_nonnull(chart);
    const char *full = strstr(chart, ">100<"), *end = strstr(chart, "</svg>");
    ck_assert_msg(full && full < end, "the best run has 43.2 points");
    buf_free(&out), buf_free(&r.source), buf_free(&r.log);
}
END_TEST

START_TEST(text_from_a_submission_is_escaped) {
    struct result r = hostile();
    struct buf out = {0};
    write_page(&r, &out);
    const char *page = buf_str(&out);
    ck_assert(!strstr(page, "<script") && !strstr(page, "alert(1)</script>"));
    ck_assert(strstr(
        page,
        "&lt;/td&gt;&lt;/table&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot; "
        "&#39;x&#39; \xef\xbf\xbd"));
    buf_free(&out), buf_free(&r.source), buf_free(&r.log);
}
END_TEST

START_TEST(a_page_shows_the_numbers_of_the_result) {
    static const char *const values[] = {
        "43.2 of 100",  ">126 976<", "4.5<",
        ">262 144<",    "25 %",      "20 µs",
        "40 µs",        "12.5",      "4711",
        ">37<",         "62 %",      "7 x 1 x 1",
        "96 x 1 x 1",   "2-step",    "32 sectors for 128 bytes, ideal: 4",
        "8 wavefronts", "roofline",  "barrier"};
    struct result r = hostile();
    struct buf out = {0};
    r.lines[0].stall_seconds[SIM_STALL_BARRIER] = 1e-5;
    write_page(&r, &out);
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
        ck_assert_msg(strstr(buf_str(&out), values[i]), "not on the page: %s", values[i]);
    buf_free(&out), buf_free(&r.source), buf_free(&r.log);
}
END_TEST

/* 32 lanes in 4 sectors; every other float of 256 bytes: 8 sectors for what 4 could hold; all lanes
 * on one float: 1 of 4 bytes. */
START_TEST(drawn_sectors_match_the_counted_ones) {
    static const unsigned stride[] = {4, 8, 0}, drawn[] = {4, 8, 1}, ideal[] = {4, 4, 1};
    for (unsigned i = 0; i < 3; i++) {
        struct sim_access a = {.mask = ~0u, .lane_bytes = 4};
        struct buf out = {0};
        unsigned bytes, boxes = 0;
        for (unsigned l = 0; l < 32; l++) a.offset[l] = stride[i] * l;
        ck_assert_uint_eq(page_ideal_sectors(&a, &bytes), ideal[i]);
        ck_assert_uint_eq(bytes, stride[i] ? 128 : 4);
        page_map_sectors(&a, &out);
        for (const char *p = buf_str(&out); (p = strstr(p, "class=\"box\"")); p++) boxes++;
        ck_assert_uint_eq(boxes, drawn[i]);
        buf_free(&out);
    }
}
END_TEST

/* Lane l accesses word 2 l: lanes l and l + 16 share a bank, so each of two rows has 16 cells.
 * Four bytes of one word are one cell. */
START_TEST(banks_are_drawn_wavefront_by_wavefront) {
    struct sim_access a = {.mask = ~0u, .lane_bytes = 4, .cost = 2, .is_shared = true};
    struct buf out = {0};
    unsigned first = 0, again = 0;
    for (unsigned l = 0; l < 32; l++) a.offset[l] = 8 * l;
    page_map_banks(&a, &out);
    for (const char *p = buf_str(&out); (p = strstr(p, "class=\"used\"")); p++) first++;
    for (const char *p = buf_str(&out); (p = strstr(p, "class=\"again\"")); p++) again++;
    ck_assert_uint_eq(first, 16);
    ck_assert_uint_eq(again, 16);
    buf_free(&out);
}
END_TEST

/* Data from an untrusted process may be anything. */
START_TEST(any_access_can_be_drawn) {
    uint32_t x = 1;
    for (unsigned i = 0; i < 300; i++) {
        struct sim_access a = {0};
        struct buf out = {0};
        unsigned char *p = (unsigned char *)&a;
        for (size_t k = 0; k < sizeof a; k++)
            x = x * 1664525 + 1013904223, p[k] = (unsigned char)(x >> 24);
        a.file = "x", a.lane_bytes = a.lane_bytes % 64 + 1, a.kind %= 3, a.is_shared = i % 2;
        (a.is_shared ? page_map_banks : page_map_sectors)(&a, &out);
        ck_assert_uint_lt(out.size, 1 << 20);
        buf_free(&out);
    }
}
END_TEST

/* 100 us fill the 296 units right of the names; a row is 18 high and a bar leaves 2 above it. */
START_TEST(a_timeline_has_a_row_for_each_stream) {
    static const char *const names[PAGE_PARTS] = {"copies", [4] = "kernels"};
    static const struct page_span spans[] = {{0, 50, 3, 0}, {25, 100, 9, 4}};
    struct buf out = {0};
    page_timeline("a title", spans, 2, names, &out);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&out), "class=\"p0\" x=\"56.0\" y=\"6.0\" width=\"147.7\""));
    ck_assert_ptr_nonnull(
        strstr(buf_str(&out), "class=\"p4\" x=\"130.0\" y=\"24.0\" width=\"221.7\""));
    ck_assert(strstr(buf_str(&out), "stream 3") && strstr(buf_str(&out), "stream 9") &&
              !strstr(buf_str(&out), "stream 0"));
    buf_free(&out);
}
END_TEST

/* Every page of the site parses and loads nothing from elsewhere; tasks link to what they name,
 * fold their hints, and can be found by words. */
START_TEST(the_site_contains_the_whole_book) {
    char folder[] = "/tmp/site-XXXXXX", path[200];
    struct err e = {0};
    if (access("build/makesite", X_OK) != 0) {
        unit_skip("the_site_is_made_of_the_book",
                  "build/makesite is not built: make build/makesite");
        return;
    }
    ck_assert(mkdtemp(folder) != NULL);
    ck_assert_int_eq(shell("build/makesite --no-pictures %s >/dev/null", folder), 0);
    char **files = book_list_files(folder, "", ".html");
    unsigned n = 0;
    for (char **f = files; *f; f++, n++) {
        struct buf page = {0};
        snprintf(path, sizeof path, "%s/%.100s", folder, *f);
        ck_assert(file_read(path, 1 << 24, &page, &e));
        ck_assert_msg(!markup_fault(buf_str(&page), 1), "%s: %s", *f,
                      markup_fault(buf_str(&page), 1));
        ck_assert_msg(!strstr(buf_str(&page), " in quiz/"), "%s shows the answers of a quiz", *f);
        if (!strcmp(*f, "index.html"))
            ck_assert(strstr(buf_str(&page), "script-src 'sha256-") &&
                      strstr(buf_str(&page), " swizzle "));
        if (!strcmp(*f, "chapters-02-coalescing-transpose.html"))
            ck_assert(
                strstr(buf_str(&page), "<details><summary>Hint 1</summary>") &&
                strstr(buf_str(&page), "href=\"solutions-02-coalescing-transpose-ladder.html\""));
        if (!strcmp(*f, "chapters-02-coalescing-README.html"))
            ck_assert(strstr(buf_str(&page), "<svg viewBox=\"0 0 360 ") &&
                      strstr(buf_str(&page), "class=\"box\"") && !strstr(buf_str(&page), "<img"));
        if (!strcmp(*f, "docs-contributing.html"))
            ck_assert(strstr(buf_str(&page),
                             "<a href=\"docs-architecture.html\"><code>docs/architecture.md"));
        buf_free(&page);
    }
    ck_assert_uint_gt(n, 2 * book_count());
    book_free_list(files);
    ck_assert_int_eq(shell("rm -r %s", folder), 0);
}
END_TEST

UNIT_SUITE(pages) {
    Suite *s = suite_create("pages");
    TCase *t = tcase_create("pages");
    tcase_add_test(t, a_page_is_valid_and_self_contained);
    tcase_add_test(t, the_axis_of_points_reaches_all_points);
    tcase_add_test(t, text_from_a_submission_is_escaped);
    tcase_add_test(t, a_page_shows_the_numbers_of_the_result);
    tcase_add_test(t, drawn_sectors_match_the_counted_ones);
    tcase_add_test(t, banks_are_drawn_wavefront_by_wavefront);
    tcase_add_test(t, any_access_can_be_drawn);
    tcase_add_test(t, a_timeline_has_a_row_for_each_stream);
    tcase_add_test(t, the_site_contains_the_whole_book);
    suite_add_tcase(s, t);
    return s;
}
