/* test_history.c — tests that the history keeps the times of devices apart. */
#include "common/file.h"
#include "common/paths.h"
#include "grader/cli/progress.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct exercise ex = {.chapter = "00-history-of-a-test", .name = "made"};

static void history_folder(char path[PATH_MAX]) {
    struct err e = {0};
    char state[PATH_MAX];
    ck_assert_msg(paths_state_dir(state, &e), "%s", e.text);
    snprintf(path, PATH_MAX, "%.3900s/progress/%s", state, ex.chapter);
}

static void record(const char *device, double us) {
    struct result r = {.ex = &ex, .verdict = V_AC, .score = 90};
    r.speed.valid = true, r.speed.kind = "modelled", r.speed.student_us = us;
    progress_record(&r, device_find(device));
}

START_TEST(times_of_devices_are_kept_apart) {
    struct report_history_entry runs[8];
    char folder[PATH_MAX], path[PATH_MAX + 16];
    history_folder(folder);
    shell("rm -rf %s && mkdir -p %s", folder, folder);
    snprintf(path, sizeof path, "%s/made.history", folder);
    FILE *f = fopen(path, "w");
    ck_assert(f && fprintf(f, "1700000000 AC 80.0 7 modelled\n") > 0 && !fclose(f));
    record("h200", 20), record("a100", 50), record("h200", 10);
    ck_assert_uint_eq(progress_history(&ex, device_find("h200"), runs, 8), 2);
    ck_assert(runs[0].us == 20 && runs[1].us == 10);
    ck_assert_uint_eq(progress_history(&ex, device_find("a100"), runs, 8), 1);
    ck_assert(runs[0].us == 50 && !strcmp(runs[0].device, "a100"));
    ck_assert_uint_eq(progress_history(&ex, NULL, runs, 8), 4);
    ck_assert(runs[0].us == 7 && !runs[0].device[0]); /* by an older grader */
    shell("rm -rf %s", folder);
}
END_TEST

UNIT_SUITE(history) {
    Suite *s = suite_create("history");
    TCase *t = tcase_create("history");
    tcase_add_test(t, times_of_devices_are_kept_apart);
    suite_add_tcase(s, t);
    return s;
}
