/* overview.c — see overview.h. */
#include "grader/cli/overview.h"
#include "common/paths.h"
#include "grader/class/grade_many.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"
#include "grader/grade/gpu_device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exercise of the README's first steps, which needs two lines to solve. */
static const char example_name[] = "02-coalescing/transpose";

/* ---- the selection ---- */

/* Other formats are for programs, which expect every exercise. */
static bool shows_overview(const struct options *o) {
    return !o->noperands && !o->file && !o->all &&
           (o->format == FORMAT_TEXT || o->format == FORMAT_JSON);
}

bool select_files(const struct options *o, struct selection *s, struct err *e) {
    if (!(s->list = cli_select_exercises(o, e))) return false;
    s->is_overview = shows_overview(o);
    unsigned count = 0;
    while (s->list[count]) count++;
    s->unstarted = xcalloc(count + 1, sizeof *s->unstarted);
    for (unsigned i = 0; i < count; i++)
        if (s->is_overview && progress_is_unmodified(s->list[i]))
            s->unstarted[s->nunstarted++] = s->list[i];
        else s->list[s->n++] = s->list[i];
    s->list[s->n] = NULL;
    return true;
}

void selection_free(struct selection *s) { free(s->list), free(s->unstarted); }

/* ---- the example ---- */

static const struct exercise *example_exercise(void) {
    for (unsigned i = 0; i < book_count(); i++)
        if (!strcmp(book_id(book_at(i)), example_name)) return book_at(i);
    return book_at(0);
}

/* Grades the exercise as delivered and its model solution at the same time, and compares them.
 * Returns an exit status: the example tests the installation, too. */
static int write_example(const struct options *o, const struct gpu_device *d,
                         const struct report_style *style, struct buf *out) {
    const struct exercise *ex = example_exercise();
    struct grade_options go = options_to_grade_options(o, d);
    go.reuse = options_reuse(o);
    struct result results[2];
    struct err e = {0};
    char paths[2][PATH_MAX + 512];
    struct grade_item items[2];
    unsigned n = book_has_solutions() ? 2 : 1;
    snprintf(paths[0], sizeof *paths, "%s", book_student_file(ex));
    snprintf(paths[1], sizeof *paths, "%s", book_solution_file(ex, NULL));
    for (unsigned i = 0; i < n; i++)
        items[i] = (struct grade_item){.ex = ex, .name = paths[i], .path = paths[i]};
    status_show((void *)ex->name, "grading an example");
    bool ok = class_grade_many(items, n, gpu_options_of(d) ? 1 : o->jobs, &go, results, &e);
    status_clear();
    if (!ok) return cli_report_error(&e);
    bool failed = false;
    for (unsigned i = 0; i < n; i++) {
        bool as_expected = results[i].verdict == (i ? V_AC : V_PART);
        if (!as_expected) report_text(&results[i], d, style, out);
        failed |= !as_expected;
    }
    if (!failed) report_demonstration(&results[0], n > 1 ? &results[1] : NULL, d, style, out);
    for (unsigned i = 0; i < n; i++) result_free(&results[i]);
    return failed ? EXIT_INTERNAL_ERROR : EXIT_PASSED;
}

/* ---- next steps ---- */

static void put_command(const char *command, const char *comment, struct buf *out) {
    char line[PATHS_COMMAND_SIZE + PATH_MAX];
    snprintf(line, sizeof line, "  %s", command);
    report_pad(line, 48, out);
    buf_printf(out, "%s\n", comment);
}

static void put_grader_command(const char *arguments, const char *comment, struct buf *out) {
    char command[PATHS_COMMAND_SIZE + 200];
    snprintf(command, sizeof command, "%s %s", paths_command("grader"), arguments);
    put_command(command, comment, out);
}

/* Appends the commands of a first session with an exercise. */
static void put_first_steps(const struct exercise *ex, struct buf *out) {
    char text[300];
    buf_printf(out, "\nTo start, type:\n");
    snprintf(text, sizeof text, "quiz %.*s", (int)strcspn(ex->chapter, "-"), ex->chapter);
    put_grader_command(text, "guess before you read", out);
    snprintf(text, sizeof text, "less chapters/%s/README.md", ex->chapter);
    put_command(text, "the lesson", out);
    snprintf(text, sizeof text, "$EDITOR chapters/%s.cu", book_id(ex));
    put_command(text, "your file", out);
    snprintf(text, sizeof text, "run %s", ex->name);
    put_grader_command(text, "verdict, score, missing points", out);
    put_grader_command("run", "your edited files, and this list", out);
}

/* Returns the first file of the followed path that is not started; without one, of the book. */
static const struct exercise *next_unstarted(const struct selection *s) {
    const struct book_path_row *row = progress_followed_path();
    while (row && (row = book_path_next(row)))
        for (unsigned i = 0; row->kind == BOOK_PATH_STEP && i < s->nunstarted; i++)
            if (s->unstarted[i] == book_path_exercise(row)) return s->unstarted[i];
    return s->unstarted[0];
}

static void put_next_exercise(const struct selection *s, struct buf *out) {
    if (!s->nunstarted) return;
    const struct exercise *next = next_unstarted(s);
    buf_printf(out,
               "Next: read chapters/%s/README.md and %s.md, edit %s.cu there, then run\n  %s run "
               "%s\n",
               next->chapter, next->name, next->name, paths_command("grader"), next->name);
}

/* Sets all exercises in the order of the book, each with its result or NULL. */
static unsigned merge(const struct selection *s, const struct result *results,
                      const struct exercise **list, const struct result **merged) {
    unsigned graded = 0, unstarted = 0;
    for (unsigned i = 0; i < s->n + s->nunstarted; i++) {
        bool is_graded = graded < s->n && s->list[graded] == book_at(i);
        merged[i] = is_graded ? &results[graded] : NULL;
        list[i] = is_graded ? s->list[graded++] : s->unstarted[unstarted++];
    }
    return s->n + s->nunstarted;
}

int overview_write(const struct options *o, const struct gpu_device *d, const struct selection *s,
                   const struct result *results, const struct report_style *style, int status,
                   struct buf *out) {
    const struct exercise **list = xcalloc(book_count(), sizeof *list);
    const struct result **merged = xcalloc(book_count(), sizeof *merged);
    unsigned n = merge(s, results, list, merged);
    if (s->n) buf_puts(out, "\n");
    report_overview(list, merged, n, style, out);
    free(list), free(merged);
    if (s->n) put_next_exercise(s, out);
    else {
        buf_puts(out, "\n");
        status = write_example(o, d, style, out);
        if (status == EXIT_PASSED) put_first_steps(example_exercise(), out);
    }
    return status;
}
