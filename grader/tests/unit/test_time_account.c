/* test_time_account.c — holds `run`, `profile`, `report` and JSON to one account of each time: the
 * same limits in the same words, and parts that add up to the modelled time. */
#include "grader/tests/unit/shell.h"
#include "common/buf.h"
#include "grader/tests/unit/unit.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns what the grader prints for the file; the caller frees it. Without a seed, all commands
 * report one kept result. A version that misses points
 * exits with 1. */
static struct buf grader_output(const char *command, const char *exercise, const char *file,
                                const char *options) {
    struct buf line = {0}, out = {0};
    char piece[4096];
    size_t n;
    buf_printf(&line, "%s/grader %s %s --file %s %s 2>/dev/null", build_folder(), command, exercise,
               file, options);
    FILE *f = popen(buf_str(&line), "r");
    ck_assert_ptr_nonnull(f);
    while ((n = fread(piece, 1, sizeof piece, f)) > 0) buf_add(&out, piece, n);
    pclose(f);
    buf_free(&line);
    ck_assert_msg(out.size > 0, "%s %s %s printed nothing", command, exercise, file);
    return out;
}

/* Replaces each run of white space by a blank: reports wrap their lines. */
static void unwrap(const char *text, struct buf *out) {
    for (; *text; text++)
        if (!strchr(" \n", *text)) buf_add(out, text, 1);
        else if (out->size && out->data[out->size - 1] != ' ') buf_puts(out, " ");
}

static void check_text(const char *file, const char *where, const struct buf *text,
                       const char *bound) {
    struct buf line = {0};
    unwrap(buf_str(text), &line);
    ck_assert_msg(strstr(buf_str(&line), bound), "%s: %s does not say \"%s\"", file, where, bound);
    buf_free(&line);
}

/* The sentence has the names of the list, in its order: "first, 9 % (next: second, …; third, …)".
 */
static void check_limits(const char *file, const char *bound, const json_t *limits) {
    const char *at = bound;
    ck_assert_uint_eq(json_array_size(limits), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *limit = json_array_get(limits, i);
        char text[96];
        double percent = json_real_value(json_object_get(limit, "percent")),
               first = json_real_value(json_object_get(json_array_get(limits, 0), "percent"));
        snprintf(text, sizeof text, "%s, %.0f %%",
                 json_string_value(json_object_get(limit, "name")), percent);
        at = strstr(at, text);
        ck_assert_msg(at, "%s: \"%s\" lacks \"%s\"", file, bound, text);
        double behind = json_real_value(json_object_get(limit, "behind_percent"));
        ck_assert_msg(fabs(behind - fmax(first - percent, 0)) < 1e-6, "%s: %g behind", file,
                      behind);
    }
}

static void check_parts(const char *file, const json_t *kernel) {
    const char *name;
    json_t *part;
    double sum = 0, whole = json_real_value(json_object_get(kernel, "modelled_us"));
    json_object_foreach(json_object_get(kernel, "account_us"), name, part) sum +=
        json_real_value(part);
    ck_assert_msg(fabs(sum - whole) < 1e-6 * whole, "%s: parts of %g us make %g", file, whole, sum);
    check_limits(file, json_string_value(json_object_get(kernel, "bound_by")),
                 json_object_get(kernel, "limits"));
}

/* Returns false if the version has no modelled time. */
static bool check_version(const char *exercise, const char *file) {
    struct buf text = grader_output("run", exercise, file, ""),
               json = grader_output("run", exercise, file, "--format json"),
               profile = grader_output("profile", exercise, file, ""),
               page = grader_output("report", exercise, file, "--output /dev/stdout");
    json_t *o = json_loads(buf_str(&json), 0, NULL),
           *result = json_array_get(json_object_get(o, "exercises"), 0),
           *speed = json_object_get(result, "speed");
    const char *bound = json_string_value(json_object_get(speed, "bound_by"));
    if (bound) {
        size_t i;
        json_t *kernel;
        check_text(file, "run", &text, bound), check_text(file, "profile", &profile, bound);
        /* Without " in KERNEL, …", whose characters HTML may escape. */
        char limits[256];
        snprintf(limits, sizeof limits, "%.*s", (int)strcspn(bound, ")") + 1, bound);
        check_text(file, "report", &page, limits);
        check_limits(file, bound, json_object_get(speed, "limits"));
        json_array_foreach(json_object_get(result, "kernels"), i, kernel) check_parts(file, kernel);
    }
    json_decref(o);
    buf_free(&text), buf_free(&json), buf_free(&profile), buf_free(&page);
    return bound;
}

/* Three transposes with three limits: L2, L1, DRAM. */
START_TEST(all_reports_name_the_same_limits) {
    static const char *const files[] = {"transpose-1-coalesced-reads",
                                        "transpose-2-coalesced-writes", "transpose"};
    for (unsigned i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof path, "solutions/02-coalescing/%s.cu", files[i]);
        ck_assert_msg(check_version("transpose", path), "%s has no time", path);
    }
}
END_TEST

/* Reads the transposed array by columns: each sector passes L2 eight times, so lines that wait for
 * a load wait for L2, although DRAM had the data at first. */
START_TEST(lines_wait_for_the_level_that_limits) {
    const char *file = "solutions/02-coalescing/transpose-1-coalesced-reads.cu";
    struct buf profile = grader_output("profile", "transpose", file, "");
    check_text(file, "profile", &profile, "bound by: L2 bandwidth");
    check_text(file, "profile", &profile, "waits for L2 bandwidth: 100 % at line 6");
    check_text(file, "profile", &profile, "long scoreboard L2");
    buf_free(&profile);
}
END_TEST

/* solutions/CHAPTER/NAME.cu or NAME-STEP.cu, of chapters/CHAPTER/NAME.md. */
START_TEST(all_solutions_have_one_account) {
    glob_t tasks;
    unsigned ntimes = 0;
    ck_assert_int_eq(glob("chapters/*/*_test.c", 0, NULL, &tasks), 0);
    for (size_t i = 0; i < tasks.gl_pathc; i++) {
        char exercise[128], file[160];
        const char *name = tasks.gl_pathv[i] + strlen("chapters/");
        snprintf(exercise, sizeof exercise, "%.*s", (int)(strlen(name) - strlen("_test.c")), name);
        snprintf(file, sizeof file, "solutions/%s.cu", exercise);
        ntimes += check_version(exercise, file);
    }
    globfree(&tasks);
    ck_assert_uint_ge(ntimes, 50);
}
END_TEST

UNIT_SUITE(time_account) {
    Suite *s = suite_create("time_account");
    TCase *t = tcase_create("account"), *all = tcase_create("solutions");
    tcase_set_timeout(t, 120), tcase_set_timeout(all, 1800);
    tcase_add_test(t, all_reports_name_the_same_limits);
    tcase_add_test(t, lines_wait_for_the_level_that_limits);
    tcase_set_tags(all, "long");
    tcase_add_test(all, all_solutions_have_one_account);
    suite_add_tcase(s, t), suite_add_tcase(s, all);
    return s;
}
