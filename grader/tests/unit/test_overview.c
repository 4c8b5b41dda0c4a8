/* test_overview.c — tests `grader run` without a name: which files it grades, how it lists the
 * others, and the example that it shows while nothing is edited. */
#include "grader/report/report.h"
#include "grader/sim/device.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static char folder[64];

static void open_fn(void) {
    strcpy(folder, "/tmp/warpbook-overview-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(shell("cd %s && XDG_STATE_HOME=%s/state %s/grader begin work >1", folder,
                           folder, build_folder()),
                     0);
}

static void close_fn(void) { shell("rm -rf %s", folder); }

/* Runs a command in the workspace; $G is this build's grader. */
static int run(const char *command) {
    return shell("cd %s/work && export G=%s/grader XDG_STATE_HOME=%s/state && %s", folder,
                 build_folder(), folder, command);
}

START_TEST(untouched_files_are_listed_and_not_graded) {
    ck_assert_int_eq(run("$G run --format json >../1"), 0);
    ck_assert_int_eq(run("ls chapters/*/*.cu | sed 's,chapters/,,; s,\\.cu$,,' >../all && "
                         "python3 -c 'import json; r = json.load(open(\"../1\")); "
                         "assert r[\"exercises\"] == [] and r[\"not_started\"] == "
                         "open(\"../all\").read().split()'"),
                     0);
}
END_TEST

START_TEST(edited_files_are_graded_and_summed_up_by_chapter) {
    ck_assert_int_eq(run("echo error >chapters/02-coalescing/transpose.cu && $G run >../1"), 1);
    ck_assert_int_eq(run("grep -q '^02-coalescing/transpose  CE' ../1"), 0);
    ck_assert_int_eq(run("grep -q '^02-coalescing .*  0 of 5 accepted, 0.0 of 500 points$' ../1"),
                     0);
    ck_assert_int_eq(
        run("grep -A1 '^02-coalescing  ' ../1 | "
            "grep -qx '  not started  gemm_mapping, particles, pitched_rows, vector_loads'"),
        0);
    ck_assert_int_eq(run("n=$(ls chapters/*/*.cu | wc -l) && grep -q \": 0 accepted, 1 tried, "
                         "$((n - 1)) not started; 0.0 of ${n}00 \" ../1"),
                     0);
    ck_assert_int_eq(run("! grep -q 'An example' ../1"), 0);
}
END_TEST

/* ---- the example ---- */

static const struct exercise exercise = {.name = "none", .title = "a title"};

static struct result graded(enum verdict v, double score, double us, struct technique_result *t) {
    struct result r = {.ex = &exercise,
                       .id = "00-none/none",
                       .file = "none.cu",
                       .verdict = v,
                       .score = score,
                       .technique = t,
                       .ntechnique = 1,
                       .checks = {.goals = 1, .goals_reached = t->passed},
                       .speed = {.valid = true,
                                 .kind = "modelled",
                                 .student_us = us,
                                 .vs_baseline = 100 / us,
                                 .size = "8 x 8",
                                 .bound_by = "DRAM bandwidth, 90 % (next: issue, 2 %)"}};
    buf_puts(&r.source, "first line\n  out[i * n] = 0;\n");
    return r;
}

START_TEST(the_example_compares_both_versions_and_quotes_the_line) {
    struct technique_result miss = {.name = "a goal",
                                    .metric = "sectors",
                                    .value = 32,
                                    .limit = 4.5,
                                    .is_upper_limit = true,
                                    .reason = "why so",
                                    .file = "none.cu",
                                    .line = 2},
                            reached = miss;
    reached.value = 4, reached.passed = true;
    struct result a = graded(V_PART, 0, 100, &miss), b = graded(V_AC, 100, 12.5, &reached);
    struct report_style style = {.width = 100};
    struct buf out = {0};
    report_demonstration(&a, &b, device_find("h200"), &style, &out);
    static const char *const parts[] = {
        "00-none/none, graded twice",
        "PART (partial), 0.0 points          AC (accepted), 100.0 points\n",
        "100 µs                              12.5 µs, 8.0 times as fast\n",
        "DRAM bandwidth, 90 %                DRAM bandwidth, 90 %\n",
        "none.cu:2:\n  | out[i * n] = 0;\n",
        "sectors is 32, in the model solution 4 (at most 4.5): why so\n"};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(buf_str(&out), parts[i]), "no '%s' in\n%s", parts[i], buf_str(&out));
    buf_clear(&out);
    report_demonstration(&a, NULL, device_find("h200"), &style, &out); /* a student's release */
    ck_assert(!strstr(buf_str(&out), "model solution"));
    buf_free(&out), buf_free(&a.source), buf_free(&b.source);
}
END_TEST

UNIT_SUITE(overview) {
    Suite *suite = suite_create("overview");
    TCase *t = tcase_create("run"), *x = tcase_create("example");
    tcase_add_checked_fixture(t, open_fn, close_fn);
    tcase_add_test(t, untouched_files_are_listed_and_not_graded);
    tcase_add_test(t, edited_files_are_graded_and_summed_up_by_chapter);
    tcase_add_test(x, the_example_compares_both_versions_and_quotes_the_line);
    suite_add_tcase(suite, t), suite_add_tcase(suite, x);
    return suite;
}
