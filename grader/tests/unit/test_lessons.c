/* test_lessons.c — tests what lessons show (grader/cli/lesson.h): programs whose code compiles
 * and runs, counts, pictures. Also tests the tables of times in the lessons, which
 * grader/tests/timing/lessons.py writes: measured rows equal docs/results, modelled ones the
 * exercise's ladder to 3 %, and shares of stalls equal ncu's to one per cent. */
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/cli/lesson.h"
#include "grader/tests/unit/unit.h"

#include <ctype.h>
#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 22, VERSIONS = 12, NAME = 64 };
static const char marker[] = "<!--times ", fresh_text[] = "python3 grader/tests/timing/lessons.py";

struct version_marker {
    char exercise[NAME], version[VERSIONS][NAME];
    unsigned n;
};

/* "transpose: 1-tile solution-->" */
static bool read_marker(const char *at, struct version_marker *m) {
    int used = 0;
    *m = (struct version_marker){0};
    if (sscanf(at, "%63[a-z0-9_]: %n", m->exercise, &used) != 1 || !used) return false;
    for (at += used; m->n < VERSIONS && sscanf(at, "%63[^ >\n]%n", m->version[m->n], &used) == 1;
         at += used + 1) {
        char *end = strstr(m->version[m->n], "--");
        m->n++;
        if (end) return *end = 0, true;
    }
    return false;
}

/* Returns cell n of a table's line as text, without the blanks around it. */
static bool table_cell(const char *line, unsigned n, char *out, size_t size) {
    const char *end = line + strcspn(line, "\n");
    for (unsigned i = 0; i <= n; i++) {
        line = memchr(line, '|', (size_t)(end - line));
        if (!line++) return false;
    }
    const char *stop = memchr(line, '|', (size_t)(end - line));
    if (!stop) return false;
    while (*line == ' ') line++;
    while (stop > line && stop[-1] == ' ') stop--;
    snprintf(out, size, "%.*s", (int)(stop - line), line);
    return true;
}

/* Parses a number: "1 240" is 1240; returns NAN if it is none. */
static double number(const char *text) {
    char digits[NAME], *end;
    unsigned n = 0;
    for (; *text && n < NAME - 1; text++)
        if (*text != ' ') digits[n++] = *text;
    digits[n] = 0;
    double v = strtod(digits, &end);
    return n && !*end ? v : NAN;
}

static void read_text(const char *path, struct buf *out) {
    struct err e = {0};
    ck_assert_msg(file_read(path, TEXT, out, &e), "%s", e.text);
}

/* Looks a time up in docs/results/GPU/report.json, GPU in small letters. */
static double measured(const char *gpu, const char *exercise, const char *version) {
    char path[128];
    size_t i;
    json_t *x;
    double us = NAN;
    snprintf(path, sizeof path, "docs/results/%s/report.json", gpu);
    json_t *report = json_load_file(path, 0, NULL);
    ck_assert_msg(report != NULL, "%s cannot be read", path);
    json_array_foreach(json_object_get(report, "exercises"), i, x) {
        const char *id = json_string_value(json_object_get(x, "exercise")),
                   *slash = strchr(id, '/');
        if (strcmp(slash + 1, exercise)) continue;
        const json_t *t = json_object_get(json_object_get(x, "times"),
                                          strcmp(version, "solution") ? version : "");
        const json_t *routine = json_object_get(json_object_get(x, "libraries"), version);
        us = json_number_value(routine ? json_object_get(routine, "us")
                                       : json_object_get(t, "measured_us"));
    }
    json_decref(report);
    return us;
}

/* Looks a time up in the ladder's table, whose rows are headed by devices. */
static double modelled(const char *device, const char *exercise, const char *version) {
    char pattern[128], text[NAME], start[NAME];
    glob_t found;
    struct buf ladder = {0};
    snprintf(pattern, sizeof pattern, "solutions/*/%s-ladder.md", exercise);
    ck_assert_msg(glob(pattern, 0, NULL, &found) == 0, "%s: no ladder", exercise);
    read_text(found.gl_pathv[0], &ladder);
    globfree(&found);
    snprintf(start, sizeof start, "\n| %s |", device);
    const char *head = strstr(buf_str(&ladder), "\n| device |"),
               *row = head ? strstr(head, start) : NULL;
    unsigned n = 1;
    while (row && table_cell(head + 1, n, text, sizeof text) && strcmp(text, version)) n++;
    double us = row && table_cell(row + 1, n, text, sizeof text) ? number(text) : NAN;
    buf_free(&ladder);
    return us;
}

/* Returns field `n` of a line of tab-separated values. */
static void tsv_field(const char *line, unsigned n, char *out, size_t size) {
    for (; n && line[strcspn(line, "\t\n")] == '\t'; n--) line += strcspn(line, "\t\n") + 1;
    snprintf(out, size, "%.*s", n ? 0 : (int)strcspn(line, "\t\n"), line);
}

/* Returns, from a line of ncu.tsv, the per cent of the samples of waiting warps that stalled for
 * `reason`, such as "mio throttle". */
static double stall_share(const char *head, const char *line, const char *reason) {
    char name[NAME], value[NAME], stall_name[NAME];
    double all = 0, matching = NAN;
    snprintf(stall_name, sizeof stall_name, "stall_%.40s", reason);
    for (char *c = stall_name; *c; c++) *c = *c == ' ' ? '_' : *c;
    for (unsigned n = 0; tsv_field(head, n, name, sizeof name), name[0]; n++) {
        tsv_field(line, n, value, sizeof value);
        if (strncmp(name, "stall_", 6) || !strcmp(name, "stall_selected")) continue;
        all += strtod(value, NULL);
        if (!strcmp(name, stall_name)) matching = strtod(value, NULL);
    }
    return 100 * matching / all;
}

/* Returns it for the longest kernel of a version in docs/results/GPU/ncu.tsv. */
static double stall_percent(const char *gpu, const char *exercise, const char *version,
                            const char *reason) {
    char path[128], start[2 * NAME], name[NAME], value[NAME];
    struct buf text = {0};
    unsigned time = 0;
    double longest = 0, percent = NAN;
    snprintf(path, sizeof path, "docs/results/%s/ncu.tsv", gpu);
    bool is_solution = !strcmp(version, "solution");
    snprintf(start, sizeof start, "\n%s\t%s%.*s\t", exercise, is_solution ? "model" : "s",
             is_solution ? 0 : (int)strcspn(version, "-"), version);
    read_text(path, &text);
    const char *head = buf_str(&text);
    while (tsv_field(head, time, name, sizeof name),
           name[0] && strcmp(name, "gpu__time_duration") != 0)
        time++;
    for (const char *at = head; (at = strstr(at, start)); at++) {
        tsv_field(at + 1, time, value, sizeof value);
        if (strtod(value, NULL) > longest)
            longest = strtod(value, NULL), percent = stall_share(head, at + 1, reason);
    }
    buf_free(&text);
    return percent;
}

/* "H100, stalls: mio throttle". */
static unsigned check_stalls(const char *page, const struct version_marker *m, const char *line,
                             struct buf *problems) {
    char head[NAME], device[NAME], reason[NAME], text[NAME];
    if (!table_cell(line, 0, head, sizeof head) ||
        sscanf(head, "%63[A-Z0-9], stalls: %63[a-z ]", device, reason) != 2)
        return 0;
    for (char *c = device; *c; c++) *c = (char)tolower(*c);
    for (unsigned i = 0; i < m->n; i++) {
        double expected = stall_percent(device, m->exercise, m->version[i], reason);
        double stated = table_cell(line, i + 1, text, sizeof text) ? number(text) : NAN;
        if (!(fabs(stated - expected) <= 1))
            buf_printf(problems, "%s: %s %s: %s %g %%, and it is %g (%s)\n", page, m->exercise,
                       m->version[i], head, stated, expected, fresh_text);
    }
    return m->n;
}

/* Checks one row, and skips a row of another kind. Returns the number of cells checked. */
static unsigned check_row(const char *page, const struct version_marker *m, const char *line,
                          struct buf *problems) {
    char head[NAME], device[NAME], kind[NAME], text[NAME];
    if (!table_cell(line, 0, head, sizeof head) ||
        sscanf(head, "%63[A-Za-z0-9], %63[a-z]", device, kind) != 2)
        return 0;
    bool is_measured = !strcmp(kind, "measured");
    if (!is_measured && strcmp(kind, "modelled") != 0) return 0;
    for (char *c = device; *c; c++) *c = (char)tolower(*c);
    for (unsigned i = 0; i < m->n; i++) {
        double expected = (is_measured ? measured : modelled)(device, m->exercise, m->version[i]);
        double stated = table_cell(line, i + 1, text, sizeof text) ? number(text) : NAN;
        if (isnan(expected) && !strcmp(text, "-"))
            continue; /* it does not run there, or takes the simulator too long */
        if (!(fabs(stated - expected) <= 0.03 * expected))
            buf_printf(problems, "%s: %s %s on %s is said to be %g us, and is %g (%s)\n", page,
                       m->exercise, m->version[i], head, stated, expected, fresh_text);
    }
    return m->n;
}

/* The numbers of a size: "2²⁴" is 16777216, "532 224" one number, "4000 × 1001 x 8" three. */
static unsigned numbers(const char *text, double out[8]) {
    static const char *const powers[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    unsigned n = 0;
    while (*text && n < 8) {
        if (!isdigit((unsigned char)*text)) {
            text++;
            continue;
        }
        double v = 0, power = 0;
        for (; isdigit((unsigned char)*text) || (*text == ' ' && isdigit((unsigned char)text[1]));
             text++)
            if (*text != ' ') v = 10 * v + (*text - '0');
        for (unsigned d = 0; d < 10; d++)
            if (!strncmp(text, powers[d], strlen(powers[d])))
                power = 10 * power + d, text += strlen(powers[d]), d = -1u;
        out[n++] = power > 0 ? pow(v, power) : v;
    }
    return n;
}

/* Each size in a table's head must be a timed size of the ladder. */
static void check_size(const char *page, const struct version_marker *m, const char *line,
                       struct buf *problems) {
    char pattern[128], head[NAME];
    static const char timed[] = "Times, modelled for ";
    glob_t found;
    struct buf ladder = {0};
    double stated[8], is[8];
    snprintf(pattern, sizeof pattern, "solutions/*/%s-ladder.md", m->exercise);
    if (!table_cell(line, 0, head, sizeof head) || glob(pattern, 0, NULL, &found) != 0) return;
    read_text(found.gl_pathv[0], &ladder);
    globfree(&found);
    char *at = strstr(buf_str(&ladder), timed);
    ck_assert_msg(at != NULL, "%s: its ladder says no size", m->exercise);
    at[strcspn(at, "(")] = 0;
    unsigned n = numbers(head, stated), k = numbers(at, is);
    for (unsigned i = 0; i < n; i++) {
        bool is_present = stated[i] < 32; /* "steps of 16" */
        for (unsigned j = 0; j < k; j++) is_present = is_present || stated[i] == is[j];
        if (!is_present)
            buf_printf(problems, "%s: %s is said to be timed at %.0f, and is at %s\n", page,
                       m->exercise, stated[i], at + strlen(timed));
    }
    buf_free(&ladder);
}

static unsigned check_page(const char *page, const char *text, struct buf *problems) {
    unsigned cells = 0;
    for (const char *at = text; (at = strstr(at, marker)); at++) {
        struct version_marker m;
        if (!read_marker(at + strlen(marker), &m))
            buf_printf(problems, "%s: %.60s is not understood\n", page, at);
        if (strchr(at, '\n')) check_size(page, &m, strchr(at, '\n') + 1, problems);
        for (const char *line = strchr(at, '\n'); line && line[1] == '|';
             line = strchr(line + 1, '\n'))
            cells += check_row(page, &m, line + 1, problems) +
                     check_stalls(page, &m, line + 1, problems);
    }
    return cells;
}

START_TEST(times_in_lessons_match_results_and_ladders) {
    glob_t found;
    struct buf problems = {0};
    unsigned cells = 0;
    ck_assert_int_eq(glob("chapters/*/README.md", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct buf text = {0};
        read_text(found.gl_pathv[i], &text);
        cells += check_page(found.gl_pathv[i], buf_str(&text), &problems);
        buf_free(&text);
    }
    globfree(&found);
    ck_assert_msg(!problems.size, "%s", buf_str(&problems));
    ck_assert_uint_ge(cells, 200);
}
END_TEST

#define MIGRATION(h100, t4)                                                    \
    "<!--times swizzle: 1-tile solution-->\n| us | a tile | swizzled | other " \
    "|\n|---|---|---|---|\n| H100, measured "                                  \
    "| " h100 " | 51.5 | 3 |\n| H200, measured | 82.1 | 41.2 | |\n" t4         \
    "| here | x | y | z |\n\nText 84.4\n"

START_TEST(a_wrong_time_is_reported) {
    struct buf problems = {0};
    ck_assert_uint_eq(check_page("p", MIGRATION("84.4", ""), &problems), 4);
    ck_assert_msg(!problems.size, "%s", buf_str(&problems));
    check_page("p", MIGRATION("94.4", ""), &problems);
    ck_assert_ptr_nonnull(strstr(
        buf_str(&problems), "swizzle 1-tile on H100, measured is said to be 94.4 us, and is 8"));
    buf_clear(&problems);
    check_page("p", MIGRATION("84.4", "| T4, modelled | ? | 1 |\n"), &problems);
    ck_assert_ptr_nonnull(strstr(buf_str(&problems), "swizzle 1-tile on T4, modelled"));
    ck_assert_ptr_nonnull(
        strstr(buf_str(&problems), "swizzle solution on T4, modelled is said to be 1 us"));
    buf_clear(&problems);
    check_page("p", "<!--times swizzle: 1-tile-->\n| 4096 × 2¹¹, us | a |\n", &problems);
    ck_assert_str_eq(buf_str(&problems),
                     "p: swizzle is said to be timed at 2048, and is at 4096 x 4096 \n");
    buf_clear(&problems);
    check_page("p",
               "<!--times sum_reduce: 3-warp-a-row CUB-->\n| 2¹⁸ rows | a | b |\n| H100, measured "
               "| 98.8 | 300 |\n",
               &problems);
    static const char expected[] =
        "sum_reduce CUB on H100, measured is said to be 300 us, and is 23";
    ck_assert_msg(strstr(buf_str(&problems), expected), "%s", buf_str(&problems));
    buf_clear(&problems);
    check_page("p", "<!--times swizzle: no-such-->\n| H100, measured | 1 |\n", &problems);
    ck_assert_ptr_nonnull(strstr(buf_str(&problems), "no-such"));
    buf_clear(&problems);
    check_page("p", "<!--times swizzle: solution-->\n| H100, stalls: long scoreboard | 200 |\n",
               &problems);
    ck_assert_ptr_nonnull(strstr(
        buf_str(&problems), "swizzle solution: H100, stalls: long scoreboard 200 %, and it is "));
    buf_free(&problems);
}
END_TEST

/* ---- code, counts, pictures ---- */

static const char program[] = "__global__ void k(int *p, int n) {\n    for (int i = 0; i < n; "
                              "i++)\n        p[i] = 1; // ones\n"
                              "    p[n] = 2;\n}\nint main() {}\n";
#define PAGE(code) \
    "# Lesson\n\nText:\n\n<!--code lesson/k.cu-->\n\n" code "\nMore text; and more.\n"

static const char *problems_of(void (*check)(const char *, const char *, const char *,
                                             struct buf *),
                               const char *page, const char *text) {
    static struct buf problems;
    buf_clear(&problems);
    check(page, "lesson/k.cu", text, &problems);
    return buf_str(&problems);
}

START_TEST(code_in_a_lesson_matches_its_program) {
    static const char *const good[] = {
        "    for (int i = 0; i < n; i++)\n        p[i] = 1;\n",
        "    p[i] = 1;   // another remark\n",
        "    __global__ void k(int *p, int n) {\n\n    ...\n        p[n] = 2;\n"};
    static const char *const bad[] = {
        "    p[i] = 2;\n", "    for (int i = 0; i < n; i++)\n    p[n] = 2;\n",
        "    p[n] = 2;\n    ...\n    p[i] = 1;\n", "    p[n] = 2;\n    }\n    int main();\n"};
    char page[400];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(page, sizeof page, PAGE("%s"), good[i]);
        ck_assert_str_eq(problems_of(lesson_check_code, page, program), "");
    }
    for (unsigned i = 0; i < 4; i++) {
        snprintf(page, sizeof page, PAGE("%s"), bad[i]);
        ck_assert_str_eq(problems_of(lesson_check_code, page, program),
                         "line 7: these lines are not in lesson/k.cu\n");
    }
}
END_TEST

START_TEST(code_without_a_program_is_reported) {
    struct buf problems = {0};
    lesson_check_markers(
        PAGE("    p[i] = 1;\n") "\n    build/grader run k\n\n```\n    a; drawing\n```\n",
        &problems);
    ck_assert_str_eq(buf_str(&problems), "");
    lesson_check_markers("Text:\n\n    p[i] = 1;\n", &problems);
    ck_assert_str_eq(buf_str(&problems),
                     "line 3: code without `<!--code lesson/NAME.cu-->` above it\n");
    buf_clear(&problems);
    lesson_check_markers("Text:\n\n<!--code a.cu-->\n\n    a;\n\n<!--code b.cu-->\n\n    b;\n",
                         &problems);
    ck_assert_str_eq(buf_str(&problems),
                     "line 9: no text between this code and the code before it\n");
    buf_free(&problems);
}
END_TEST

#define COUNTS(a, b)                                                                  \
    "<!--counted lesson/k.cu-->\n| kernel | `loads / requests` | in words | `loads` " \
    "|\n|---|---|---|---|\n| a `k` "                                                  \
    "| " a " | four | " b " |\n"

START_TEST(a_wrong_count_is_reported) {
    static const char json[] = "{\"launches\": [{\"kernel\": \"k\", \"counters\": {\"loads\": "
                               "16384, \"requests\": 4096}}]}";
    ck_assert_str_eq(problems_of(lesson_check_counts, COUNTS("4", "16 400"), json), "");
    ck_assert_str_eq(problems_of(lesson_check_counts, COUNTS("5", "16 384"), json),
                     "loads / requests of k is stated as 5; the simulated GPU counts 4\n");
    ck_assert_ptr_nonnull(
        strstr(problems_of(lesson_check_counts, COUNTS("4", "many"), json), "`many`"));
    ck_assert_ptr_nonnull(strstr(
        problems_of(lesson_check_counts, "<!--counted lesson/k.cu-->\nText\n", json), "no table"));
}
END_TEST

/* Builds a program for each chapter. `make check` has the same check in `grader verify --quick`. */
START_TEST(lessons_match_their_programs) {
    struct buf problems = {0};
    struct err e = {0};
    ck_assert_msg(book_open(&e), "%s", e.text);
    for (unsigned i = 0; i < book_count(); i++) {
        const char *chapter = book_at(i)->chapter;
        if (i && !strcmp(chapter, book_at(i - 1)->chapter)) continue;
        lesson_check(chapter, &problems);
        ck_assert_msg(!problems.size, "%s: %s", chapter, buf_str(&problems));
    }
}
END_TEST

UNIT_SUITE(lessons) {
    Suite *s = suite_create("lessons");
    TCase *t = tcase_create("tables of times"), *shown = tcase_create("code, counts, pictures"),
          *book = tcase_create("whole book");
    tcase_add_test(t, times_in_lessons_match_results_and_ladders);
    tcase_add_test(t, a_wrong_time_is_reported);
    tcase_set_timeout(t, 60);
    tcase_add_test(shown, code_in_a_lesson_matches_its_program);
    tcase_add_test(shown, code_without_a_program_is_reported);
    tcase_add_test(shown, a_wrong_count_is_reported);
    tcase_set_timeout(shown, 300);
    tcase_add_test(book, lessons_match_their_programs);
    tcase_set_timeout(book, 300);
    tcase_set_tags(book, "long");
    suite_add_tcase(s, t);
    suite_add_tcase(s, shown);
    suite_add_tcase(s, book);
    return s;
}
