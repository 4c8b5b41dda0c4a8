/* test_programs.c — tests whole CUDA programs, which build/simgpu nvcc builds and build/simgpu
 * run runs: their output must equal NAME.expected beside them, which holds standard output in
 * grader/tests/programs and its folders, and standard output followed by standard error in
 * grader/tests/torture.
 * Lines at the top of NAME.cu set options and further conditions:
 *   // nvcc: OPTIONS     // run: OPTIONS     // status: N     // signal: N
 *   // stderr: TEXT THAT MUST OCCUR (programs)     // also: OPTIONS, to run a second time with
 *   // not repeatable: WHY
 * A program that is newer than its source, our runtime and simgpu is not rebuilt. Each also runs
 * with 1, 2 and 4 threads: output, reports and counters must be the same. */
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "common/grow.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char folder[] = "grader/tests";
enum { MAX_TEXTS = 8 };
static char **programs; /* programs/NAME, torture/NAME */
static unsigned nprograms, capacity;

struct program_directives {
    char nvcc[256], run[256], extra_options[256], texts[MAX_TEXTS][256];
    unsigned ntexts;
    int status, signal_number;
    bool is_nondeterministic;
};

static void take_directive(const char *line, struct program_directives *w) {
    char text[256];
    if (sscanf(line, "// nvcc: %255[^\n]", text) == 1)
        snprintf(w->nvcc, sizeof w->nvcc, "%s", text);
    else if (sscanf(line, "// run: %255[^\n]", text) == 1)
        snprintf(w->run, sizeof w->run, "%s", text);
    else if (sscanf(line, "// also: %255[^\n]", text) == 1)
        snprintf(w->extra_options, sizeof w->extra_options, "%s", text);
    else if (!strncmp(line, "// not repeatable:", 18)) w->is_nondeterministic = true;
    else if (sscanf(line, "// status: %d", &w->status) == 1) return;
    else if (sscanf(line, "// signal: %d", &w->signal_number) == 1) return;
    else if (sscanf(line, "// stderr: %255[^\n]", text) == 1 && w->ntexts < MAX_TEXTS)
        strcpy(w->texts[w->ntexts++], text);
}

static void read_directives(const char *source, struct program_directives *w) {
    char line[512];
    FILE *f = fopen(source, "r");
    ck_assert_msg(f != NULL, "%s: cannot open", source);
    while (fgets(line, sizeof line, f) && !strncmp(line, "//", 2)) take_directive(line, w);
    fclose(f);
}

static int64_t changed(const char *path) {
    struct stat st;
    return stat(path, &st) ? 0 : (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static void build(const char *name, const struct program_directives *w, const char *program) {
    const char *b = build_folder();
    char source[512], inputs[8][4200];
    snprintf(source, sizeof source, "%s/%s.cu", folder, name);
    snprintf(inputs[0], sizeof inputs[0], "%s", source);
    snprintf(inputs[1], sizeof inputs[1], "%s/programs/check.h", folder);
    snprintf(inputs[2], sizeof inputs[2], "%s/lib/libwbcudart.a", b);
    snprintf(inputs[3], sizeof inputs[3], "%s/simgpu", b);
    snprintf(inputs[4], sizeof inputs[4], "%s/lib/libwbcublas.a", b);
    snprintf(inputs[5], sizeof inputs[5], "%s/lib/libwbcusparse.a", b);
    snprintf(inputs[6], sizeof inputs[6], "%s/lib/libwbcufft.a", b);
    snprintf(inputs[7], sizeof inputs[7], "%s/lib/libwbcurand.a", b);
    int64_t newest = 1;
    for (unsigned i = 0; i < 8; i++)
        if (changed(inputs[i]) > newest) newest = changed(inputs[i]);
    if (changed(program) > newest) return;
    int status = shell("%s/simgpu nvcc %s %s -o %s", b, w->nvcc, source, program);
    ck_assert_msg(status == 0, "%s does not build", source);
}

static const char *contents(const char *path, struct buf *b) {
    struct err e = {0};
    ck_assert_msg(file_read(path, 1 << 25, b, &e), "%s", e.text);
    return buf_str(b);
}

static bool is_torture(const char *name) { return !strncmp(name, "torture/", 8); }

static void compare(const char *name, const char *program) {
    char path[4300];
    struct buf actual = {0}, expected = {0};
    snprintf(path, sizeof path, "%s.out", program);
    contents(path, &actual);
    snprintf(path, sizeof path, "%s.err", program);
    if (is_torture(name)) contents(path, &actual);
    snprintf(path, sizeof path, "%s/%s.expected", folder, name);
    contents(path, &expected);
    ck_assert_msg(!strcmp(buf_str(&actual), buf_str(&expected)),
                  "%s printed:\n%s---- expected:\n%s", name, buf_str(&actual), buf_str(&expected));
    buf_free(&actual);
    buf_free(&expected);
}

static void check_stderr(const char *name, const char *program,
                         const struct program_directives *w) {
    char path[4300];
    struct buf actual = {0};
    snprintf(path, sizeof path, "%s.err", program);
    contents(path, &actual);
    for (unsigned i = 0; i < w->ntexts; i++)
        ck_assert_msg(strstr(buf_str(&actual), w->texts[i]) != NULL, "%s: no \"%s\" in:\n%s", name,
                      w->texts[i], buf_str(&actual));
    ck_assert_msg(w->ntexts || !actual.size, "%s: unexpected on standard error:\n%s", name,
                  buf_str(&actual));
    buf_free(&actual);
}

/* Builds the program if necessary; returns its path. */
static void prepare(const char *name, struct program_directives *w, char *program, size_t size) {
    struct err e = {0};
    char source[512];
    snprintf(source, sizeof source, "%s/%s.cu", folder, name);
    read_directives(source, w);
    static const char *const kinds[] = {"programs", "programs/devices", "torture"};
    for (int i = 0; i < 3; i++) {
        snprintf(program, size, "%s/tests/%s", build_folder(), kinds[i]);
        ck_assert_msg(dir_create(program, &e), "%s", e.text);
    }
    snprintf(program, size, "%s/tests/%s", build_folder(), name);
    build(name, w, program);
}

static void run_once(const char *name, const struct program_directives *w, const char *program,
                     const char *more) {
    int status = shell("%s/simgpu run %s %s %s >%s.out 2>%s.err", build_folder(), w->run, more,
                       program, program, program);
    compare(name, program);
    if (!is_torture(name)) check_stderr(name, program, w);
    int expected = w->signal_number ? 128 + w->signal_number : w->status;
    ck_assert_msg(status == expected, "%s: exit status %d, expected %d", name, status, expected);
}

START_TEST(programs_print_the_expected_output) {
    struct program_directives w = {0};
    char program[4200];
    prepare(programs[_i], &w, program, sizeof program);
    run_once(programs[_i], &w, program, "");
    if (w.extra_options[0]) run_once(programs[_i], &w, program, w.extra_options);
}
END_TEST

START_TEST(programs_do_not_depend_on_the_thread_count) {
    struct program_directives w = {0};
    char program[4200], path[4300];
    struct buf first = {0};
    prepare(programs[_i], &w, program, sizeof program);
    for (int workers = 1; workers <= 4 && !w.is_nondeterministic; workers *= 2) {
        struct buf all = {0};
        shell("%s/simgpu run %s --workers %d --counters json --counters-file %s.json %s >%s.out "
              "2>%s.err",
              build_folder(), w.run, workers, program, program, program, program);
        for (int i = 0; i < 3; i++) {
            snprintf(path, sizeof path, "%s.%s", program, i == 0 ? "out" : i == 1 ? "err" : "json");
            contents(path, &all);
        }
        if (workers == 1) buf_add(&first, all.data, all.size);
        ck_assert_msg(!strcmp(buf_str(&first), buf_str(&all)),
                      "%s with %d threads:\n%.2000s---- with one:\n%.2000s", programs[_i], workers,
                      buf_str(&all), buf_str(&first));
        buf_free(&all);
    }
    buf_free(&first);
}
END_TEST

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_programs(const char *kind) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    DIR *d = opendir(path);
    if (!d) die("%s: run the tests from the root of the repository", path);
    for (struct dirent *entry; (entry = readdir(d));) {
        char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".cu")) continue;
        snprintf(path, sizeof path, "%s/%.*s", kind, (int)(dot - entry->d_name), entry->d_name);
        GROW(programs, nprograms + 1, capacity, 64);
        programs[nprograms++] = xstrdup(path);
    }
    closedir(d);
}

UNIT_SUITE(programs) {
    Suite *suite = suite_create("programs");
    TCase *tc = tcase_create("end to end");
    find_programs("programs");
    find_programs("programs/devices");
    find_programs("torture");
    qsort(programs, nprograms, sizeof *programs, by_name);
    tcase_set_timeout(tc, 120);
    tcase_set_tags(tc, "long");
    tcase_add_loop_test(tc, programs_print_the_expected_output, 0, (int)nprograms);
    tcase_add_loop_test(tc, programs_do_not_depend_on_the_thread_count, 0, (int)nprograms);
    suite_add_tcase(suite, tc);
    return suite;
}
