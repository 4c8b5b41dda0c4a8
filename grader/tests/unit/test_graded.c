/* test_graded.c — tests the verdicts of submissions that readers of the book wrote: solutions of
 * their own with a mistake that a lesson warns of, ways to points that were not earned, and correct
 * ones that had lost points. grader/tests/graded/EXERCISE-NAME.cu is a submission to that exercise.
 * Comments at its top:
 *   // what it does, in a sentence
 *   // at first: what the grader of that day said of it
 *   // expect: VERDICT MIN MAX                the verdict, and the limits of its points
 *   // says: TEXT                             in the report; may be missing
 * docs/results/graded.md lists them. */
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "common/grow.h"
#include "grader/tests/unit/listed_page.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char folder[] = "grader/tests/graded", page[] = "docs/results/graded.md";
enum { TEXT = 400, MAX_REPORT = 1 << 24 };

struct graded {
    char path[TEXT], exercise[64], name[128];
    char what[TEXT], at_first[TEXT], verdict[16], says[TEXT];
    double min_points, max_points;
};
static struct graded *submissions;
static unsigned nsubmissions, capacity;

static void take_comment(const char *line, struct graded *g) {
    if (sscanf(line, "// at first: %399[^\n]", g->at_first) == 1) return;
    if (sscanf(line, "// expect: %15s %lf %lf", g->verdict, &g->min_points, &g->max_points) == 3)
        return;
    if (sscanf(line, "// says: %399[^\n]", g->says) == 1) return;
    if (!g->what[0]) sscanf(line, "// %399[^\n]", g->what);
}

static void read_submission(const char *path, struct graded *g) {
    struct buf source = {0};
    struct err e = {0};
    *g = (struct graded){0};
    if (!file_read(path, MAX_REPORT, &source, &e)) die("%s", e.text);
    snprintf(g->path, sizeof g->path, "%s", path);
    sscanf(path + sizeof folder, "%127[^.]", g->name);
    sscanf(path + sizeof folder, "%63[^-]", g->exercise);
    const char *line = buf_str(&source);
    while (!strncmp(line, "//", 2)) {
        take_comment(line, g);
        line += strcspn(line, "\n");
        line += *line != 0;
    }
    buf_free(&source);
}

static void find_submissions(void) {
    char pattern[TEXT];
    glob_t g;
    snprintf(pattern, sizeof pattern, "%s/*.cu", folder);
    if (glob(pattern, 0, NULL, &g)) die("%s: run the tests from the root of the tree", pattern);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        GROW(submissions, nsubmissions + 1, capacity, 64);
        read_submission(g.gl_pathv[i], &submissions[nsubmissions++]);
    }
    globfree(&g);
}

START_TEST(submissions_get_their_verdicts) {
    const struct graded *g = &submissions[_i];
    char report[4200];
    struct buf text = {0};
    ck_assert_msg(g->what[0] && g->at_first[0] && g->verdict[0],
                  "%s: the first lines must be a sentence, `// at first:` and `// expect:`",
                  g->path);
    snprintf(report, sizeof report, "%s/tests/graded-%s.json", build_folder(), g->name);
    shell("%s/grader run %s --file %s --seed graded --format json --output %s >/dev/null 2>&1",
          build_folder(), g->exercise, g->path, report);
    json_t *root = json_loads(contents(report, &text), 0, NULL),
           *result = json_array_get(json_object_get(root, "exercises"), 0);
    const char *verdict = json_string_value(json_object_get(result, "verdict"));
    double points = json_number_value(json_object_get(result, "score"));
    ck_assert_msg(verdict && !strcmp(verdict, g->verdict), "%s: verdict %s, expected %s", g->path,
                  verdict, g->verdict);
    ck_assert_msg(points >= g->min_points && points <= g->max_points,
                  "%s: %.1f points, expected %.1f to %.1f", g->path, points, g->min_points,
                  g->max_points);
    ck_assert_msg(strstr(buf_str(&text), g->says) != NULL, "%s: the report lacks \"%s\"", g->path,
                  g->says);
    json_decref(root);
    buf_free(&text);
}
END_TEST

static const char introduction[] =
    "# Submissions of readers\n\n"
    "Readers solved exercises their own way, made mistakes that the lessons warn of, or tried to\n"
    "get points that they had not earned. Each row is such a submission, in\n"
    "`grader/tests/graded`: what the grader said when it was written, and what it says now. The\n"
    "suite `graded` grades them, writes this page to `build/tests/graded.md`, and compares.\n\n"
    "| submission | what it does | at first | now | points | the report says |\n"
    "|---|---|---|---|---|---|\n";

START_TEST(the_page_lists_the_submissions) {
    struct buf now = {0};
    buf_puts(&now, introduction);
    for (unsigned i = 0; i < nsubmissions; i++) {
        const struct graded *g = &submissions[i];
        buf_printf(&now, "| `%s` | %s | %s | %s | %g to %g | %s |\n", g->name, g->what, g->at_first,
                   g->verdict, g->min_points, g->max_points, g->says);
    }
    check_listed_page(page, &now);
    buf_free(&now);
}
END_TEST

UNIT_SUITE(graded) {
    Suite *suite = suite_create("graded");
    TCase *sources = tcase_create("sources"), *runs = tcase_create("runs");
    find_submissions();
    tcase_add_test(sources, the_page_lists_the_submissions);
    suite_add_tcase(suite, sources);
    tcase_set_timeout(runs, 600);
    tcase_set_tags(runs, "long");
    tcase_add_loop_test(runs, submissions_get_their_verdicts, 0, (int)nsubmissions);
    suite_add_tcase(suite, runs);
    return suite;
}
