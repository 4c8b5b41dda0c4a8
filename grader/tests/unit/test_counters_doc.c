/* test_counters_doc.c — docs/counters.md has an entry for each counter, with the profiler's name or the statement that
 * there is none, and for nothing else; and a row for each metric. */
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static const char *const keys[] = {
#define COUNTER(key, how, text) #key,
#include "grader/sim/count/counters.def"
#undef COUNTER
};
static const char *const metrics[] = {
#define METRIC(key, numerator, denominator, none, text) #key,
#include "grader/grade/metrics.def"
#undef METRIC
};
enum { KEYS = sizeof keys / sizeof *keys, METRICS = sizeof metrics / sizeof *metrics };

static struct buf doc;

static void read_doc(void) {
    struct err e = {0};
    ck_assert_msg(file_read("docs/counters.md", 1 << 20, &doc, &e), "%s", e.text);
}
static void free_doc(void) { buf_free(&doc); }

START_TEST(test_entry) {
    char heading[128];
    snprintf(heading, sizeof heading, "\n### `%s`\nNsight: ", keys[_i]);
    ck_assert_msg(strstr(buf_str(&doc), heading) != NULL,
                  "docs/counters.md has no entry for %s that says what Nsight calls it", keys[_i]);
}
END_TEST

START_TEST(test_metric) {
    char row[128];
    snprintf(row, sizeof row, "\n| `%s` | ", metrics[_i]);
    ck_assert_msg(strstr(buf_str(&doc), row) != NULL, "docs/counters.md has no row for the metric %s", metrics[_i]);
}
END_TEST

START_TEST(test_nothing_else) {
    unsigned entries = 0;
    for (const char *at = buf_str(&doc); (at = strstr(at, "\n### `")); at++) entries++;
    ck_assert_uint_eq(entries, KEYS);
}
END_TEST

UNIT_SUITE(counters_doc) {
    Suite *suite = suite_create("counters_doc");
    TCase *tc = tcase_create("docs/counters.md");
    tcase_add_checked_fixture(tc, read_doc, free_doc);
    tcase_add_loop_test(tc, test_entry, 0, KEYS);
    tcase_add_loop_test(tc, test_metric, 0, METRICS);
    tcase_add_test(tc, test_nothing_else);
    suite_add_tcase(suite, tc);
    return suite;
}
