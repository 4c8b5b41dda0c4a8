/* test_baseline_data.c — tests the data about model solutions that a student's release keeps,
 * read from a text written by hand. `make check-dist` compares the scores of a release with
 * those of the full tree. */
#include "common/buf.h"
#include "common/file.h"
#include "grader/grade/baseline_data.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = "# a comment\n"
                           "warpbook-figures 2\n"
                           "nvcc 13.0.88\n"
                           "simulator 0123456789abcdef\n"
                           "times 02-x/one h200 solution k1 0x1p-3 0x1.8p+1\n"
                           "times 02-x/one h2 solution k1 0x1p+0 0x1p+0\n"
                           "times 02-x/one h200 naive k2 0x1p+2 0x0p+0\n"
                           "limit 02-x/one k2 0 0x1p+5 0x1p+2 device_read_sectors\n"
                           "limit 02-x/one_more k3 0 0x1p+5 0x1p+2 other\n"
                           "limit 02-x/one k2 1 0x1p+1 0x1p+0 writes\n";
/* sha256sum of the text above. */
static const char digest[] =
    "end e888b39dd59f24d41daa4ea245aa7148a2915f21369a0098eec646a6f6528f4d\n";

START_TEST(times_are_found_by_exercise_device_and_version) {
    double t[2];
    ck_assert(baseline_data_find_times(text, "02-x/one", "h200", "solution", NULL, t));
    ck_assert(t[0] == 0.125 && t[1] == 3);
    ck_assert(baseline_data_find_times(text, "02-x/one", "h200", "naive", NULL, t));
    ck_assert(t[0] == 4 && t[1] == 0);
    ck_assert(!baseline_data_find_times(text, "02-x/one", "h20", "solution", NULL, t));
    ck_assert(!baseline_data_find_times(text, "02-x/on", "h200", "solution", NULL, t));
    ck_assert(!baseline_data_find_times(text, "02-x/one", "h200", "step", NULL, t));
    ck_assert(baseline_data_find_times(text, "02-x/one", "h200", "solution", "k1", t));
    ck_assert(!baseline_data_find_times(text, "02-x/one", "h200", "solution", "k2", t));
    ck_assert(!baseline_data_find_times(text, "02-x/one", "h200", "solution", "k", t));
    ck_assert(!baseline_data_find_times(text, "02-x/one", "h200", "solution", "k11", t));
    ck_assert(baseline_data_has(text, "02-x/one") && !baseline_data_has(text, "02-x/one_more") &&
              !baseline_data_has(text, "02-x"));
}
END_TEST

START_TEST(limits_are_those_of_the_exercise_alone) {
    struct buf out = {0};
    for (unsigned i = 0; i < 2; i++) {
        baseline_data_find_limits(text, "02-x/one", i ? "k2" : NULL, &out);
        ck_assert_str_eq(buf_str(&out),
                         "0 0x1p+5 0x1p+2 device_read_sectors\n1 0x1p+1 0x1p+0 writes\n");
        buf_clear(&out);
    }
    baseline_data_find_limits(text, "02-x/one", "k1", &out);
    ck_assert(!out.size);
    buf_free(&out);
}
END_TEST

START_TEST(a_damaged_or_truncated_file_is_rejected) {
    struct buf original = {0}, bad = {0};
    struct err e = {0};
    buf_puts(&original, text);
    baseline_data_append_digest(&original);
    ck_assert_msg(strstr(buf_str(&original), digest), "%s", buf_str(&original));
    ck_assert_msg(baseline_data_verify(&original, &e), "%s", e.text);
    for (size_t i = strlen("# a comment\n"); i < original.size - 1; i += 7) {
        buf_clear(&bad), buf_add(&bad, original.data, original.size), bad.data[i] ^= 1;
        e = (struct err){0};
        ck_assert_msg(!baseline_data_verify(&bad, &e), "byte %zu", i);
        buf_clear(&bad), buf_add(&bad, original.data, i);
        ck_assert(!baseline_data_verify(&bad, &e));
    }
    ck_assert(strstr(e.text, "unpack the release again"));
    buf_free(&original), buf_free(&bad);
}
END_TEST

static const char *code_digest(const char *source) {
    static char digests[2][80];
    static unsigned next;
    char path[] = "/tmp/warpbook-digest-XXXXXX", command[200];
    struct err e = {0};
    int fd = mkstemp(path);
    ck_assert(fd >= 0 && close(fd) == 0 && file_write(path, source, strlen(source), &e));
    snprintf(command, sizeof command, "MAKEFLAGS= make -s code-digest SOURCE=%s; rm %s", path,
             path);
    FILE *f = popen(command, "r");
    char *line = fgets(digests[next ^= 1], sizeof digests[0], f);
    ck_assert(line && pclose(f) == 0 && strlen(line) == 17);
    return line;
}

/* Joined files hold lines that are no directives, such as the #x of a macro of the next line. */
START_TEST(a_digest_of_code_ignores_comments_alone) {
    const char *same = "#define TEXT(x) \\\n  #x\nint a; /* it's one */\n#x\n";
    ck_assert_str_eq(code_digest(same),
                     code_digest("#define TEXT(x) \\\n  #x\n\n// two\nint a;\n#x\n"));
    ck_assert_str_ne(code_digest(same), code_digest("#define TEXT(x) \\\n  #x\nint b;\n#x\n"));
}
END_TEST

UNIT_SUITE(baseline_data) {
    Suite *suite = suite_create("baseline_data");
    TCase *t = tcase_create("figures");
    tcase_add_test(t, times_are_found_by_exercise_device_and_version);
    tcase_add_test(t, limits_are_those_of_the_exercise_alone);
    tcase_add_test(t, a_damaged_or_truncated_file_is_rejected);
    tcase_add_test(t, a_digest_of_code_ignores_comments_alone);
    suite_add_tcase(suite, t);
    return suite;
}
