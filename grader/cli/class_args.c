/* class_args.c — see class_args.h. */
#include "grader/cli/class_args.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/provenance.h"

#include <stdio.h>
#include <stdlib.h>

static bool stored_path(struct store *s, char path[4096], struct err *e) {
    sqlite3_stmt *q = s ? store_ask(s, e, "SELECT path FROM assignment", "") : NULL;
    path[0] = 0;
    if (s && store_next(s, &q, e)) snprintf(path, 4096, "%s", store_text(q, 0));
    store_end(&q);
    return !e->text[0];
}

static bool read_named(const struct options *o, struct store *s, struct assignment *a,
                       struct err *e) {
    char path[4096];
    if (o->assignment) return assignment_read(o->assignment, true, a, e);
    if (!stored_path(s, path, e)) return false;
    if (!path[0]) return true;
    if (file_exists(path)) return assignment_read(path, true, a, e);
    return err_set(
        e, ERR_INPUT,
        "%s was graded by the assignment %s, which is not there any more: name it by --assignment",
        s->path, path);
}

bool cli_class_assignment(const struct options *o, struct store *s, struct assignment *a,
                          struct options *out, struct err *e) {
    *a = (struct assignment){0}, *out = *o;
    if (!read_named(o, s, a, e)) return false;
    if (!a->n) return true;
    out->terms = a, out->no_modelled |= !a->modelled;
    if (!o->seed_given && a->seed[0])
        snprintf(out->seed, sizeof out->seed, "%s", a->seed), out->seed_given = true;
    if (!o->roster && a->roster[0]) out->roster = a->roster;
    if (o->device_given) return true;
    out->ndevices = 0;
    return options_add_device(out, a->device, e) || (assignment_free(a), false);
}

static const struct exercise **of_assignment(const struct assignment *a) {
    const struct exercise **list = xcalloc(a->n + 1, sizeof *list);
    for (unsigned i = 0; i < a->n; i++) list[i] = a->parts[i].ex;
    return list;
}

const struct exercise **cli_class_list(const struct options *o, struct err *e) {
    if (o->exercise) return book_find(o->exercise, e);
    if (o->terms) return of_assignment(o->terms);
    struct options all = *o;
    all.nnames = 0;
    return cli_chosen(&all, e);
}

/* A commit's date is what the clock of its author's machine said, or the author. */
static void take_git_times(struct plan *p) {
    unsigned n = plan_git_times(p);
    if (n)
        fprintf(stderr,
                "grader: warning: of %u student%s git says when they handed in: a commit's date is "
                "what the student's "
                "own clock said (a column submitted_at of the roster stands before it)\n",
                n, n == 1 ? "" : "s");
}

bool cli_class_intake(const struct options *o, struct store *s, const struct exercise *const *list,
                      unsigned *seen, struct err *e) {
    struct plan p;
    struct plan_options po = {
        .layout = o->layout, .roster = o->roster, .exercise = list[1] ? NULL : list[0]};
    if (o->terms && !assignment_store(o->terms, s, e)) return false;
    bool ok = plan_make(&p, o->names, o->nnames, &po, e);
    if (ok && o->terms && o->terms->timed) take_git_times(&p);
    ok = ok && class_intake(s, &p, list, e);
    *seen = p.nentries;
    plan_free(&p);
    return ok;
}

static void show(void *user, const struct class_progress *p) {
    (void)user;
    char line[128];
    int n = snprintf(line, sizeof line, "%u/%u", p->graded, p->total);
    if (p->broken) n += snprintf(line + n, sizeof line - (size_t)n, " · %u IE", p->broken);
    double left =
        p->graded ? p->seconds / p->graded * (p->total > p->graded ? p->total - p->graded : 0) : 0;
    if (left >= 90)
        snprintf(line + n, sizeof line - (size_t)n, " · %.0f min left", left / 60 + 0.5);
    else if (left > 0) snprintf(line + n, sizeof line - (size_t)n, " · %.0f s left", left + 0.5);
    progress_line(line);
}

static void warn_of_compiler(void) {
    const char *with;
    if (grade_is_nvcc_verified(&with)) return;
    fprintf(stderr,
            "grader: warning: nvcc is %s, and the book was verified with %s: goals may be easier "
            "or harder to reach; run "
            "`grader verify` first\n",
            grade_nvcc_version(), with);
}

bool cli_class_grade(const struct options *o, struct store *s, const char *seed, bool aside,
                     struct err *e) {
    struct class_grading g = {.grade = options_grade(o, o->devices[0]),
                              .aside = aside,
                              .progress = show,
                              .jobs = o->jobs};
    const struct exercise **list = o->exercise ? cli_class_list(o, e) : NULL;
    if (o->exercise && !list) return false;
    if (list && !list[1]) g.only = list[0];
    free(list);
    if (gpu_options_of(o->devices[0])) g.jobs = 1; /* another one beside it would be foreign load */
    if (o->shards) g.shard = o->shard - 1, g.shards = o->shards;
    g.grade.seed = seed, g.assignment = o->terms;
    warn_of_compiler();
    bool ok = class_grade(s, &g, e);
    progress_clear();
    return ok;
}

bool cli_class_write(const struct options *o, struct store *s, FILE *f, struct err *e) {
    switch (o->format) {
    case FORMAT_TEXT: return export_text(s, f, e);
    case FORMAT_CSV: return export_csv(s, f, e);
    case FORMAT_NBGRADER: return export_nbgrader(s, f, e);
    case FORMAT_TOTALS: return export_totals(s, f, e);
    case FORMAT_JSON: return export_json(s, f, e);
    case FORMAT_JUNIT: return export_junit(s, f, e);
    case FORMAT_TAP: return export_tap(s, f, e);
    case FORMAT_HTML:
        return err_set(e, ERR_INPUT,
                       "--format html goes with grader stats, and feedback writes pages");
    default: return err_set(e, ERR_INPUT, "--format gradescope and classroom go with grader run");
    }
}

int cli_class_status(struct store *s, struct err *e) {
    long long broken = store_number(s, e, "SELECT count(*) FROM gradebook WHERE verdict = 'IE'");
    long long others =
        store_number(s, e, "SELECT count(*) FROM gradebook WHERE coalesce(verdict, state) <> 'AC'");
    return broken < 0 || others < 0 ? cli_complain(e)
           : broken                 ? EXIT_BROKEN
           : others                 ? EXIT_FAILED
                                    : EXIT_PASSED;
}

bool cli_class_open(const struct options *o, unsigned least, const char *usage, struct store *s,
                    struct err *e) {
    if (o->nnames < least) return err_set(e, ERR_INPUT, "%s takes %s", o->command, usage);
    return store_open(s, o->names[0], false, e);
}
