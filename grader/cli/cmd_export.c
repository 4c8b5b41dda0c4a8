/* cmd_export.c — grader export STORE: writes the gradebook in the format of --format, without
 * grading; with --worksheet, as the file that an LMS imports. */
#include "grader/class/export_worksheet.h"
#include "grader/cli/class_args.h"

#include <stdlib.h>

/* Reports the students without a grade, whom the instructor has to look at. */
static void report_counts(const struct worksheet_counts *counts, const struct buf *absent) {
    fprintf(
        stderr,
        "grader: grades filled in: %u; excused: %u; without a score: %u; not in the store: %u\n",
        counts->graded, counts->excused, counts->open, counts->unknown);
    if (counts->absent)
        fprintf(stderr, "grader: warning: students without a row in the worksheet: %u\n%s",
                counts->absent, buf_str(absent));
}

static bool fill_worksheet(const struct options *o, struct store *s, FILE *f, bool *is_complete,
                           struct err *e) {
    struct worksheet_options w = {(enum worksheet_format)(o->format - FORMAT_MOODLE), o->worksheet,
                                  o->column, NULL};
    struct worksheet_counts counts;
    struct buf absent = {0};
    const struct exercise **found = NULL;
    if (!o->worksheet)
        return err_set(
            e, ERR_INPUT,
            "--format moodle, canvas, blackboard and brightspace take --worksheet F.csv, "
            "the file that the LMS exports");
    if (o->exercise && !(found = book_find(o->exercise, e))) return false;
    if (found) w.exercise = book_id(found[0]);
    free(found);
    bool ok = export_worksheet(s, &w, f, &counts, &absent, e);
    if (ok) report_counts(&counts, &absent), *is_complete = !counts.open && !counts.absent;
    buf_free(&absent);
    return ok;
}

/* Returns exit status 1 if a worksheet lacks a grade or a student. */
int cmd_export(const struct options *o) {
    struct err e = {0};
    struct store s;
    struct file_out out;
    bool is_complete = true;
    if (!cli_class_open(o, 1, "a store that `grader batch --store` made", &s, &e))
        return cli_report_error(&e);
    bool ok = file_open(o->output, &out, &e);
    if (ok) {
        ok = o->format >= FORMAT_MOODLE ? fill_worksheet(o, &s, out.f, &is_complete, &e)
                                        : cli_class_export(o, &s, out.f, &e);
        ok = file_close(&out, ok, &e) && ok;
    }
    store_close(&s);
    return !ok ? cli_report_error(&e) : is_complete ? EXIT_PASSED : EXIT_FAILED;
}
