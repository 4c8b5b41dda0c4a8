/* cmd_run.c — grader run: grades exercises on one or more devices and writes the report. Without a
 * name it grades the files that were edited, and lists the others as not started (overview.h). */
#include "common/file.h"
#include "common/paths.h"
#include "grader/book/problem.h"
#include "grader/cli/commands.h"
#include "grader/cli/overview.h"
#include "grader/grade/build.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/compiler_jail.h"
#include "grader/class/grade_many.h"
#include "grader/cli/progress.h"
#include "grader/report/side_by_side.h"
#include "grader/sim/timing/timing.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grade_one(const struct options *o, const struct gpu_device *d,
                      const struct exercise *ex, struct result *r, struct err *e) {
    struct grade_options go = options_to_grade_options(o, d);
    char id[160];
    snprintf(id, sizeof id, "%s", book_id(ex));
    go.progress = status_show, go.user = id, go.reuse = options_reuse(o);
    if (grade_file(ex, cli_student_file(o, ex), &go, r, e)) return true;
    e->kind = ERR_INPUT; /* a file that the user named or edits */
    return false;
}

/* Appends the command that runs a drawn case again if it failed: its size depends on the seed. */
static void put_repeat_command(const struct options *o, const struct result *results, unsigned n,
                               struct buf *out) {
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < results[i].ncases; k++) {
            const struct case_result *c = &results[i].cases[k];
            if (!c->drawn || c->verdict == V_AC) continue;
            buf_printf(out, "  to run this size again: %s run %s%s%s --seed %s --case %u\n",
                       paths_command("grader"), results[i].ex->name, o->file ? " --file " : "",
                       o->file ? o->file : "", results[i].seed, c->number);
            break;
        }
}

/* Appends the seed. A kept result has its own. */
static void put_seed(const struct options *o, const struct result *results, unsigned n,
                     struct buf *out) {
    unsigned kept_count = 0;
    for (unsigned i = 0; i < n; i++) kept_count += results[i].is_kept;
    buf_printf(out, "seed: %s", n == 1 && kept_count ? results[0].seed : o->seed);
    if (n == 1 && kept_count)
        buf_puts(out, " (kept from an earlier grading of this file; --no-cache grades it again)");
    else if (kept_count)
        buf_printf(out, " (%u of %u results kept from earlier gradings; --no-cache grades again)",
                   kept_count, n);
    buf_puts(out, "\n");
}

static void write_text(const struct options *o, const struct gpu_device *d,
                       const struct result *results, unsigned n, const struct report_style *style,
                       struct buf *out) {
    const struct result **list = xcalloc(n, sizeof *list);
    for (unsigned i = 0; i < n; i++) {
        list[i] = &results[i];
        /* When all exercises are graded, unchanged starter files get only a line of the table. */
        bool is_full = o->noperands || n == 1 || !results[i].is_unmodified;
        if (is_full) report_text(&results[i], d, style, out);
        if (is_full) buf_puts(out, "\n");
    }
    if (!style->brief && n) put_seed(o, results, n, out);
    if (!style->brief) put_repeat_command(o, results, n, out);
    if (n > 1) report_table(list, n, style, out);
    free(list);
}

static struct json_t *write_json(const struct options *o, const struct gpu_device *d,
                                 const struct selection *s, const struct result *results) {
    const struct result **list = xcalloc(s->n, sizeof *list);
    for (unsigned i = 0; i < s->n; i++) list[i] = &results[i];
    struct json_t *j = report_json(list, s->n, d, s->n == 1 ? results[0].seed : o->seed);
    if (s->is_overview) report_json_not_started(j, s->unstarted, s->nunstarted);
    free(list);
    return j;
}

static bool grade_all(const struct options *o, const struct gpu_device *d,
                      const struct exercise **list, unsigned n, struct result *results,
                      struct err *e) {
    if (n == 1) return grade_one(o, d, list[0], &results[0], e);
    struct grade_options go = options_to_grade_options(o, d);
    struct grade_item *items = xcalloc(n, sizeof *items);
    char(*paths)[PATH_MAX + 512] = xcalloc(n, sizeof *paths);
    for (unsigned i = 0; i < n; i++) {
        snprintf(paths[i], sizeof *paths, "%s", cli_student_file(o, list[i]));
        items[i] = (struct grade_item){.ex = list[i], .name = paths[i], .path = paths[i]};
    }
    struct status_count count;
    status_count_begin(&count, "exercises", n);
    go.progress = status_count_next, go.user = &count, go.reuse = options_reuse(o);
    if (n) status_count_show(&count, list[0]->name);
    /* On a real GPU one at a time, because a second job would disturb the timing. */
    bool ok = class_grade_many(items, n, gpu_options_of(d) ? 1 : o->jobs, &go, results, e);
    free(items), free(paths);
    return ok;
}

/* Prints the time model's cost to standard error. The report has no wall time, because the same
 * seed gives the same bytes. Only for one exercise: several run in separate processes. */
static void print_model_cost(const struct gpu_device *d, struct time_cost cost_before) {
    struct time_cost c = time_get_cost();
    fprintf(stderr, "time model: %u launches on %s in %.2f s (%.2f s of it to trace a sample)\n",
            c.launches - cost_before.launches, d->name, c.seconds - cost_before.seconds,
            c.trace_seconds - cost_before.trace_seconds);
}

/* Appends how many exercises are done and which comes next, as rustlings does. */
static void put_completion(const struct result *r, struct buf *out) {
    const struct exercise *next;
    unsigned done = progress_count_passed(&next);
    if (r->verdict != V_AC || r->is_single_case) return;
    buf_printf(out, "%u of %u done.", done, book_count());
    if (next)
        buf_printf(out, " Next: chapters/%s/%s.md, then %s run %s", next->chapter, next->name,
                   paths_command("grader"), next->name);
    buf_puts(out, "\n");
}

/* Grades all selected exercises on one device. Returns the exit status, -1 on an error. */
static int run_on_device(const struct options *o, const struct gpu_device *d,
                         const struct selection *s, struct buf *text, struct buf *rows,
                         struct json_t **json, struct err *e) {
    unsigned n = s->n;
    struct result *results = xcalloc(n, sizeof *results);
    struct report_style style = o->output ? (struct report_style){.width = 100} : cli_style_for(1);
    style.shows_sandbox = o->verbose;
    struct time_cost cost_before = time_get_cost();
    bool ok = grade_all(o, d, s->list, n, results, e);
    status_clear();
    if (o->verbose && n == 1) print_model_cost(d, cost_before);
    int status = ok ? cli_exit_status(results, n) : -1;
    if (ok && o->format == FORMAT_JSON) *json = write_json(o, d, s, results);
    if (ok && o->format == FORMAT_GRADESCOPE) report_gradescope(results, n, d, text);
    if (ok && o->format == FORMAT_CLASSROOM) report_classroom(results, n, d, text);
    if (ok && o->format == FORMAT_AUTOLAB) report_autolab(results, n, d, text);
    if (ok && o->format == FORMAT_TEXT) write_text(o, d, results, n, &style, text);
    if (ok && o->brief_report) {
        style.brief = true;
        write_text(o, d, results, n, &style, o->brief_report);
    }
    if (ok) report_side_by_side_add(rows, d, results, n);
    for (unsigned i = 0; ok && i < n; i++)
        if (!o->file) progress_record(&results[i], d);
    if (ok && s->is_overview && o->format == FORMAT_TEXT)
        status = overview_write(o, d, s, results, &style, status, text);
    else if (ok && n == 1 && o->format == FORMAT_TEXT && !o->output)
        put_completion(&results[0], text);
    for (unsigned i = 0; ok && i < n; i++) result_free(&results[i]);
    free(results);
    return status;
}

static bool check_machine_code(const struct options *o, struct err *e) {
    build_enable_disassembly(o->machine_code);
    return !o->machine_code || build_disassembler(NULL) ||
           err_set(e, ERR_INPUT,
                   "--machine-code needs nvdisasm, which is missing; `make setup` in the source "
                   "tree tries to fetch it");
}

/* Returns false if an exercise lacks the case of --case: with no case it would be accepted. */
static bool check_case_number(const struct options *o, const struct exercise *const *list,
                              struct err *e) {
    for (; *list; list++) {
        unsigned n = (*list)->ncases + problem_drawn_case_count(*list);
        if (o->only_case > n)
            return err_set(e, ERR_INPUT, "--case %u: %s has %u cases", o->only_case, (*list)->name,
                           n);
    }
    return true;
}

static bool check_options(const struct options *o, unsigned n, struct err *e) {
    if (o->file && (n != 1 || !o->noperands))
        return err_set(e, ERR_INPUT, "--file needs exactly one exercise");
    if (o->format == FORMAT_CSV)
        return err_set(e, ERR_INPUT, "--format csv applies only to `grader batch`");
    if (o->format == FORMAT_HTML)
        return err_set(
            e, ERR_INPUT,
            "--format html applies only to `grader stats`; for one exercise use `grader report`");
    bool is_for_site = o->format == FORMAT_GRADESCOPE || o->format == FORMAT_CLASSROOM ||
                       o->format == FORMAT_AUTOLAB;
    if (is_for_site && o->ndevices > 1)
        return err_set(e, ERR_INPUT,
                       "--format gradescope, classroom and autolab allow only one --device");
    return true;
}

/* Grades on all devices, one after another. `*worst_status` becomes the highest exit status. */
static bool run_on_devices(const struct options *o, const struct selection *s, struct buf *text,
                           int *worst_status, struct err *e) {
    struct buf rows = {0};
    struct json_t *json[MAX_DEVICES] = {0};
    bool ok = true;
    for (unsigned i = 0; ok && i < o->ndevices; i++) {
        if (o->format == FORMAT_TEXT && o->ndevices > 1)
            buf_printf(text, "== %s ==\n", o->devices[i]->full_name);
        int status = run_on_device(o, o->devices[i], s, text, &rows, &json[i], e);
        ok = status >= 0;
        if (status > *worst_status) *worst_status = status;
    }
    if (ok && o->format == FORMAT_TEXT && o->ndevices > 1) report_side_by_side_write(&rows, text);
    if (ok && o->format == FORMAT_JSON) report_json_text(json, o->ndevices, o->seed, text);
    buf_free(&rows);
    return ok;
}

bool cli_run(const struct options *o, struct buf *text, int *status, struct err *e) {
    if (!check_machine_code(o, e)) return false;
    struct selection s = {0};
    *status = EXIT_PASSED;
    bool ok = select_files(o, &s, e) && check_case_number(o, s.list, e) &&
              check_options(o, s.n, e) && run_on_devices(o, &s, text, status, e);
    selection_free(&s);
    return ok;
}

int cmd_run(const struct options *o) {
    struct err e = {0};
    struct buf text = {0};
    int status;
    bool ok = cli_run(o, &text, &status, &e) && cli_write_output(o, &text, &e);
    buf_free(&text);
    return ok ? status : cli_report_error(&e);
}
