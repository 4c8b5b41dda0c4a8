/* test_counters_doc.c — tests that docs/counters.md has exactly one entry for each counter, with
 * the profiler's name or the statement that there is none, a label, and a row for each metric; and
 * that limits use only counters that hardware has. */
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/tests/unit/unit.h"

#include <glob.h>
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

START_TEST(each_counter_is_documented) {
    char heading[128];
    snprintf(heading, sizeof heading, "\n### `%s`\nNsight: ", keys[_i]);
    ck_assert_msg(strstr(buf_str(&doc), heading) != NULL,
                  "docs/counters.md has no entry for %s that says what Nsight calls it", keys[_i]);
}
END_TEST

/* The entry's first paragraph has one of the labels that the page's first table explains. */
START_TEST(each_counter_has_a_label) {
    static const char *const labels[] = {"Exact", "Merged", "PTX level", "Modelled"};
    char heading[128], label[32], first[2048];
    unsigned n = 0;
    snprintf(heading, sizeof heading, "\n### `%s`\n", keys[_i]);
    const char *entry = strstr(buf_str(&doc), heading);
    ck_assert_ptr_nonnull(entry);
    entry += strlen(heading);
    snprintf(first, sizeof first, "%.*s", (int)(strstr(entry, "\n\n") - entry), entry);
    for (char *c = first; *c; c++)
        if (*c == '\n') *c = ' ';
    for (unsigned i = 0; i < sizeof labels / sizeof *labels; i++) {
        snprintf(label, sizeof label, "| %s | ", labels[i]);
        ck_assert_msg(strstr(buf_str(&doc), label) != NULL, "no explanation of %s", labels[i]);
        snprintf(label, sizeof label, ". %s", labels[i]);
        n += strstr(first, label) != NULL;
    }
    ck_assert_msg(n == 1, "docs/counters.md: %s needs one label, and has %u", keys[_i], n);
}
END_TEST

START_TEST(each_metric_is_documented) {
    char row[128];
    snprintf(row, sizeof row, "\n| `%s` | ", metrics[_i]);
    ck_assert_msg(strstr(buf_str(&doc), row) != NULL,
                  "docs/counters.md has no row for the metric %s", metrics[_i]);
}
END_TEST

START_TEST(only_existing_counters_are_documented) {
    unsigned entries = 0;
    for (const char *at = buf_str(&doc); (at = strstr(at, "\n### `")); at++) entries++;
    ck_assert_uint_eq(entries, KEYS);
}
END_TEST

/* ---- limits ---- */

/* Nsight has no name for these counters, but limits may use them. */
static const char *const exempt_limits[] = {
    "shared_atomic_operations",   /* how often memory is updated; requests, which Nsight has, do not
                                     tell lanes that add one by one */
    "const_serialized_accesses",  /* the limit is 0, and Nsight shows it as time only */
    "evict_first_reload_sectors", /* Nsight shows what comes of it, the hit rate in L2 */
    "barriers",
    "shuffles",     /* instructions of one kind, which Nsight counts in the source view */
    "flops_matrix", /* which Nsight has for each pair of types by itself */
};

static bool is_exempt(const char *name) {
    for (unsigned i = 0; i < sizeof exempt_limits / sizeof *exempt_limits; i++)
        if (!strcmp(name, exempt_limits[i])) return true;
    return false;
}

/* Checks a limit on `name` that the file `path` sets. Names without an entry are metrics, sums
 * of counters. */
static void check_limit(const char *name, const char *path) {
    char heading[128];
    snprintf(heading, sizeof heading, "\n### `%s`\nNsight: ", name);
    const char *entry = strstr(buf_str(&doc), heading);
    bool none = entry && !strncmp(entry + strlen(heading), "none", 4);
    ck_assert_msg(!none || is_exempt(name), "%s limits %s, which Nsight does not count on a GPU",
                  path, name);
}

static unsigned check_limits(const char *path) {
    static const char *const limit_calls[] = {"ex_require_at_most(\"", "ex_require_at_most_per(\"",
                                              "ex_require_at_least(\"",
                                              "ex_require_at_least_per(\""};
    struct buf text = {0};
    struct err e = {0};
    unsigned n = 0;
    char name[64];
    ck_assert_msg(file_read(path, 1 << 20, &text, &e), "%s", e.text);
    for (unsigned c = 0; c < 4; c++)
        for (const char *at = buf_str(&text); (at = strstr(at, limit_calls[c])); n++) {
            at += strlen(limit_calls[c]);
            if (sscanf(at, "%63[a-z0-9_]", name) == 1) check_limit(name, path);
        }
    buf_free(&text);
    return n;
}

START_TEST(limits_of_exercises_name_existing_counters) {
    static const char *const patterns[] = {"chapters/*/*_test.c", "common/exercise_*.h"};
    unsigned n = 0;
    for (unsigned w = 0; w < 2; w++) {
        glob_t files;
        ck_assert_int_eq(glob(patterns[w], 0, NULL, &files), 0);
        for (size_t i = 0; i < files.gl_pathc; i++) n += check_limits(files.gl_pathv[i]);
        globfree(&files);
    }
    ck_assert_uint_gt(n, 50);
}
END_TEST

UNIT_SUITE(counters_doc) {
    Suite *suite = suite_create("counters_doc");
    TCase *tc = tcase_create("docs/counters.md");
    tcase_add_checked_fixture(tc, read_doc, free_doc);
    tcase_add_loop_test(tc, each_counter_is_documented, 0, KEYS);
    tcase_add_loop_test(tc, each_counter_has_a_label, 0, KEYS);
    tcase_add_loop_test(tc, each_metric_is_documented, 0, METRICS);
    tcase_add_test(tc, only_existing_counters_are_documented);
    tcase_add_test(tc, limits_of_exercises_name_existing_counters);
    suite_add_tcase(suite, tc);
    return suite;
}
