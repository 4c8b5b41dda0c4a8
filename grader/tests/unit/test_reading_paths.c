/* test_reading_paths.c — tests the paths through the book (chapters/paths.def): what the check
 * refuses, that plans agree with the lessons, and that `grader list` and the next exercise follow a
 * path. */
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/book/reading_path.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_PLAN(exercise, needs) \
    { .kind = BOOK_PATH_PLAN, .name = exercise, .text = needs }
#define ROW_PATH \
    { .kind = BOOK_PATH_BEGIN, .name = "short" }
#define ROW_STEP(exercise) \
    { .kind = BOOK_PATH_STEP, .name = exercise }

static const struct {
    struct book_path_row rows[5];
    const char *error; /* "" = accepted */
} tables[] = {
    {{ROW_PLAN("transpose", "gemm_mapping"), ROW_PATH, ROW_STEP("gemm_mapping"),
      ROW_STEP("transpose")},
     ""},
    {{ROW_PLAN("transpose", "gemm_mapping"), ROW_PATH, ROW_STEP("transpose"),
      ROW_STEP("gemm_mapping")},
     "path short: transpose needs gemm_mapping before it"},
    {{ROW_PLAN("transpose", "gemm_mapping"), ROW_PATH, ROW_STEP("transpose")},
     "path short: transpose needs gemm_mapping before it"},
    {{ROW_PATH, ROW_STEP("transpos")}, "path short: no exercise is named 'transpos'"},
    {{ROW_PATH, ROW_STEP("transpose"), ROW_STEP("transpose")}, "path short has transpose twice"},
    {{ROW_PLAN("transpos", "")}, "PLAN(transpos): no such exercise"},
    {{ROW_PLAN("transpose", "gemm_maping")}, "PLAN(transpose): no exercise is named 'gemm_maping'"},
    {{ROW_STEP("transpose")}, "STEP(transpose) before any PATH"},
};

START_TEST(bad_paths_are_refused) {
    struct err e = {0};
    unsigned n = 0;
    while (n < 5 && tables[_i].rows[n].name) n++;
    ck_assert(book_path_check(tables[_i].rows, n, &e) == !*tables[_i].error);
    ck_assert_msg(text_ends_with(e.text, tables[_i].error), "%s", e.text);
}
END_TEST

START_TEST(the_books_paths_are_accepted) {
    struct err e = {0};
    unsigned n, names = 0;
    const struct book_path_row *rows = book_path_rows(&n);
    ck_assert_msg(book_path_check(rows, n, &e), "%s", e.text);
    for (; book_path_at(names); names++) ck_assert(book_path_find(book_path_at(names)->name, &e));
    ck_assert_uint_eq(names, 6);
    ck_assert(!book_path_find("beginners", &e));
    ck_assert_str_eq(e.text,
                     "no path is named 'beginners'; choose one of beginner interview course "
                     "triton pytorch opencl");
}
END_TEST

/* ---- plans ---- */

static void add_file(const char *path, struct buf *text) {
    struct err e = {0};
    if (file_exists(path)) ck_assert_msg(file_read(path, 1 << 20, text, &e), "%s", e.text);
}

/* Appends the chapter's lesson and the exercise's task and ladder. */
static void read_texts(const struct exercise *ex, struct buf *text) {
    char path[400];
    snprintf(path, sizeof path, "chapters/%s/README.md", ex->chapter), add_file(path, text);
    snprintf(path, sizeof path, "chapters/%s.md", book_id(ex)), add_file(path, text);
    snprintf(path, sizeof path, "solutions/%s-ladder.md", book_id(ex)), add_file(path, text);
}

/* Chapters refer to each other as "chapter 03", "(03)" or by an exercise's name in backticks. */
static bool refers_to(const char *text, const struct exercise *ex) {
    char forms[4][80];
    snprintf(forms[0], sizeof *forms, "hapter %.2s", ex->chapter);
    snprintf(forms[1], sizeof *forms, "(%.2s)", ex->chapter);
    snprintf(forms[2], sizeof *forms, "`%s`", ex->name);
    snprintf(forms[3], sizeof *forms, "%.2s-", ex->chapter);
    for (unsigned i = 0; i < 4; i++)
        if (strstr(text, forms[i])) return true;
    return false;
}

static void check_prerequisite(const struct exercise *ex, const char *name) {
    struct buf text = {0};
    struct err e = {0};
    const struct exercise **needed = book_find(name, &e);
    ck_assert_msg(needed, "%s", e.text);
    read_texts(ex, &text);
    /* Every lesson supposes the first exercise: a kernel and its launch. */
    bool is_first = !strcmp(name, "vector_add");
    ck_assert_msg(is_first || !strcmp(needed[0]->chapter, ex->chapter) ||
                      refers_to(buf_str(&text), needed[0]),
                  "%s: its texts do not mention its prerequisite %s or that chapter", ex->name,
                  name);
    free(needed), buf_free(&text);
}

START_TEST(texts_mention_the_prerequisites) {
    unsigned n, nchecked = 0;
    const struct book_path_row *rows = book_path_rows(&n);
    for (unsigned i = 0; i < n; i++) {
        if (rows[i].kind != BOOK_PATH_PLAN) continue;
        char names[200];
        snprintf(names, sizeof names, "%s", rows[i].text);
        for (char *s = strtok(names, " "); s; s = strtok(NULL, " "), nchecked++)
            check_prerequisite(book_path_exercise(&rows[i]), s);
    }
    ck_assert_uint_gt(nchecked, 50);
}
END_TEST

/* Reads "Plan about four hours: 45 minutes …" or "Plan about 90 minutes: 30 …". */
static void read_plan(const char *chapter, double *hours, double *lesson_minutes) {
    static const char *const words[] = {"one",   "two",   "three", "four", "five",   "six",
                                        "seven", "eight", "nine",  "ten",  "eleven", "twelve"};
    char path[200], amount[16], unit[16];
    struct buf text = {0};
    snprintf(path, sizeof path, "chapters/%s/README.md", chapter), add_file(path, &text);
    const char *at = strstr(buf_str(&text), "\nPlan about ");
    ck_assert_msg(at && sscanf(at + 12, "%15s %15[a-z]: %lf", amount, unit, lesson_minutes) == 3,
                  "%s: no plan", path);
    *hours = atof(amount) / 60;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(amount, words[i])) *hours = i + 1;
    buf_free(&text);
}

START_TEST(minutes_add_up_to_the_hours_of_the_lesson) {
    for (unsigned i = 0; i < book_count();) {
        const char *chapter = book_at(i)->chapter;
        double hours, minutes;
        read_plan(chapter, &hours, &minutes);
        for (; i < book_count() && !strcmp(book_at(i)->chapter, chapter); i++) {
            const struct book_path_row *plan = book_path_plan(book_at(i));
            if (plan) minutes += plan->minutes;
        }
        ck_assert_msg(minutes > 60 * hours - 30 && minutes < 60 * hours + 30,
                      "%s: %.0f minutes, but its lesson plans %.2f hours", chapter, minutes, hours);
    }
}
END_TEST

/* The syllabus has a row for each week of the path `course`: exercises, then hours and minutes. */
START_TEST(the_syllabus_has_the_weeks_of_the_path) {
    struct buf text = {0}, row = {0};
    struct err e = {0};
    unsigned week = 0, minutes = 0;
    add_file("docs/course/README.md", &text);
    for (const struct book_path_row *r = book_path_find("course", &e); r;) {
        const struct book_path_row *next = book_path_next(r);
        if (r->kind == BOOK_PATH_STEP) {
            buf_printf(&row, "%s`%s`", minutes ? ", " : "", r->name);
            minutes += book_path_plan(book_path_exercise(r))->minutes;
        }
        if (minutes && (!next || next->kind == BOOK_PATH_PART)) {
            char number[32];
            snprintf(number, sizeof number, "\n| %u | ", ++week);
            buf_printf(&row, " | %u h %02u min |\n", minutes / 60, minutes % 60);
            const char *found = strstr(buf_str(&text), number);
            ck_assert_msg(found && strstr(found, buf_str(&row)) &&
                              strstr(found, buf_str(&row)) < strchr(found + 1, '\n'),
                          "docs/course/README.md, week %u: expected %s", week, buf_str(&row));
            buf_clear(&row), minutes = 0;
        }
        r = next;
    }
    ck_assert_uint_eq(week, 10);
    buf_free(&text), buf_free(&row);
}
END_TEST

/* ---- the command ---- */

static char folder[64];

static void open_fn(void) {
    strcpy(folder, "/tmp/warpbook-paths-XXXXXX");
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

START_TEST(list_shows_a_path_and_the_next_exercise_follows_it) {
    ck_assert_int_eq(run("$G list >../1 && grep -q '^Paths: beginner, interview, course, triton, "
                         "pytorch, opencl[.]' ../1"),
                     0);
    ck_assert_int_eq(run("$G list --path pytorch >../1"), 0);
    /* In the book, chapter 01 would come third; on this path, chapter 07. */
    ck_assert_int_eq(run("sed -n 's/^  \\([a-z_]*\\) .*not started.*/\\1/p' ../1 | head -3 | "
                         "xargs | grep -qx 'vector_add intensity scale_add'"),
                     0);
    ck_assert_int_eq(run("grep -q '^0 of 20 done' ../1 && grep -q '^Next: .*vector_add$' ../1"), 0);
    ck_assert_int_eq(run("$G list | grep -q 'pytorch (followed)'"), 0);
    ck_assert_int_eq(run("P=$(dirname $(find ../state -name path)); mkdir -p $P/00-roofline && "
                         "echo AC 100 0 >$P/00-roofline/vector_add && "
                         "echo AC 100 0 >$P/00-roofline/intensity && "
                         "$G list --path pytorch | grep -q '^Next: .* run scale_add$'"),
                     0);
    ck_assert_int_eq(run("$G list --path book | grep -q '^Next: .* run accumulate$'"), 0);
    ck_assert_int_eq(run("! $G list | grep -q followed"), 0);
}
END_TEST

START_TEST(unknown_paths_are_refused) {
    ck_assert_int_eq(run("$G list --path beginers >../1 2>&1"), 2);
    ck_assert_int_eq(run("grep -q \"no path is named 'beginers'; choose one of beginner\" ../1"),
                     0);
    ck_assert_int_eq(run("$G list 02 --path beginner >../1 2>&1"), 2);
}
END_TEST

START_TEST(the_site_has_a_page_for_each_path) {
    ck_assert_int_eq(
        shell("%s/makesite --no-pictures %s/site >%s/1", build_folder(), folder, folder), 0);
    for (unsigned i = 0; book_path_at(i); i++) {
        const char *name = book_path_at(i)->name;
        ck_assert_int_eq(
            shell("cd %s/site && grep -q 'href=\"path-%s.html\"' index.html && grep -q "
                  "'href=\"chapters-00-roofline-vector_add.html\"' path-%s.html",
                  folder, name, name),
            0);
    }
}
END_TEST

UNIT_SUITE(reading_paths) {
    Suite *s = suite_create("reading_paths");
    TCase *t = tcase_create("reading_paths"), *command = tcase_create("list_path");
    tcase_add_loop_test(t, bad_paths_are_refused, 0, sizeof tables / sizeof *tables);
    tcase_add_test(t, the_books_paths_are_accepted);
    tcase_add_test(t, texts_mention_the_prerequisites);
    tcase_add_test(t, minutes_add_up_to_the_hours_of_the_lesson);
    tcase_add_test(t, the_syllabus_has_the_weeks_of_the_path);
    suite_add_tcase(s, t);
    tcase_add_checked_fixture(command, open_fn, close_fn);
    tcase_add_test(command, list_shows_a_path_and_the_next_exercise_follows_it);
    tcase_add_test(command, unknown_paths_are_refused);
    tcase_add_test(command, the_site_has_a_page_for_each_path);
    suite_add_tcase(s, command);
    return s;
}
