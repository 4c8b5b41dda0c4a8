/* cmd_report.c — grader report: writes the report of one exercise as a self-contained page, to the
 * file of --output or to reports/NAME.html below paths_pages_dir(); then it prints the path. */
#include "common/file.h"
#include "common/paths.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/versions.h"

#include <limits.h>
#include <stdio.h>

static void put_report_page(const struct options *o, const struct exercise *ex,
                            const struct result *r, struct buf *out) {
    enum { MAX_RUNS = 60 };
    struct report_history_entry runs[MAX_RUNS];
    struct report_context b = {
        .history = runs,
        .nhistory = o->file ? 0 : progress_history(ex, o->devices[0], runs, MAX_RUNS)};
    const struct gpu_device *d = gpu_options_of(o->devices[0]) ? grade_device() : o->devices[0];
    struct buf warnings = {0};
    status_show((void *)ex->name, "the book's own versions");
    struct version *list = version_list(ex, d, o->workers, &b.nversions, &warnings);
    b.versions = list;
    report_html(r, o->devices[0], &b, out);
    if (warnings.size) fprintf(stderr, "grader: missing from the pictures: %s", buf_str(&warnings));
    version_free(list, b.nversions);
    buf_free(&warnings);
}

int cmd_report(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_select_exercise(o, &e);
    struct result r;
    struct buf out = {0};
    char path[PATH_MAX] = "", pages_folder[PATH_MAX];
    struct options output_options = *o;
    struct grade_options go = options_to_grade_options(o, o->devices[0]);
    go.reuse = options_reuse(o);
    go.progress = status_show, go.user = ex ? (void *)ex->name : NULL;
    if (!ex || !grade_file(ex, cli_student_file(o, ex), &go, &r, &e)) return cli_report_error(&e);
    if (!o->file) progress_record(&r, o->devices[0]);
    put_report_page(o, ex, &r, &out);
    bool ok = o->output || paths_pages_dir(pages_folder, &e);
    if (ok && !o->output)
        snprintf(path, sizeof path, "%.4000s/reports", pages_folder), ok = dir_create(path, &e);
    if (ok && !o->output)
        snprintf(path, sizeof path, "%.3900s/reports/%.100s.html", pages_folder, ex->name);
    if (!o->output) output_options.output = path;
    ok = ok && cli_write_output(&output_options, &out, &e);
    int status = cli_exit_status(&r, 1);
    status_clear();
    if (ok && !o->output) puts(path);
    buf_free(&out);
    result_free(&r);
    return ok ? status : cli_report_error(&e);
}
