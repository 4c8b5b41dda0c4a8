/* cmd_report.c — grader report: the report of one exercise as a page that stands alone. To --output, or to
 * build/reports/NAME.html, whose path it prints. */
#include "common/file.h"
#include "grader/cli/commands.h"

#include <limits.h>
#include <stdio.h>

int cmd_report(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_chosen_one(o, &e);
    struct result r;
    struct buf out = {0};
    char path[PATH_MAX];
    struct options to = *o;
    struct grade_options go = options_grade(o, o->devices[0]);
    go.progress = progress_show, go.user = ex ? (void *)ex->name : NULL;
    if (!ex || !grade_file(ex, cli_student_file(o, ex), &go, &r, &e)) return cli_complain(&e);
    report_html(&r, o->devices[0], &out);
    snprintf(path, sizeof path, "%.4000s/reports", book_build());
    bool ok = o->output || dir_make(path, &e);
    snprintf(path, sizeof path, "%.3900s/reports/%.100s.html", book_build(), ex->name);
    if (!o->output) to.output = path;
    ok = ok && cli_deliver(&to, &out, &e);
    int status = cli_exit_status(&r, 1);
    progress_clear();
    if (ok && !o->output) puts(path);
    buf_free(&out);
    result_free(&r);
    return ok ? status : cli_complain(&e);
}
