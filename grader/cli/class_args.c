/* class_args.c — see class_args.h. */
#include "grader/cli/class_args.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/provenance.h"

#include <stdio.h>
#include <stdlib.h>

const struct exercise **cli_class_list(const struct options *o, struct err *e) {
    if (o->exercise) return book_find(o->exercise, e);
    struct options all = *o;
    all.nnames = 0;
    return cli_chosen(&all, e);
}

bool cli_class_intake(const struct options *o, struct store *s, const struct exercise *const *list, unsigned *seen,
                      struct err *e) {
    struct plan p;
    struct plan_options po = {.layout = o->layout, .roster = o->roster, .exercise = list[1] ? NULL : list[0]};
    bool ok = plan_make(&p, o->names, o->nnames, &po, e) && class_intake(s, &p, list, e);
    *seen = p.nentries;
    plan_free(&p);
    return ok;
}

static void show(void *user, const struct class_progress *p) {
    (void)user;
    char line[128];
    int n = snprintf(line, sizeof line, "%u/%u", p->graded, p->total);
    if (p->broken) n += snprintf(line + n, sizeof line - (size_t)n, " · %u IE", p->broken);
    double left = p->graded ? p->seconds / p->graded * (p->total > p->graded ? p->total - p->graded : 0) : 0;
    if (left >= 90) snprintf(line + n, sizeof line - (size_t)n, " · %.0f min left", left / 60 + 0.5);
    else if (left > 0) snprintf(line + n, sizeof line - (size_t)n, " · %.0f s left", left + 0.5);
    progress_line(line);
}

static void warn_of_compiler(void) {
    const char *with;
    if (grade_nvcc_verified(&with)) return;
    fprintf(
        stderr,
        "grader: warning: nvcc is %s, and the book was verified with %s: goals may be easier or harder to reach; run "
        "`grader verify` first\n",
        grade_nvcc(), with);
}

bool cli_class_grade(const struct options *o, struct store *s, const char *seed, bool aside, struct err *e) {
    struct class_grading g = {
        .grade = options_grade(o, o->devices[0]), .aside = aside, .progress = show, .jobs = o->jobs};
    const struct exercise **list = o->exercise ? cli_class_list(o, e) : NULL;
    if (o->exercise && !list) return false;
    if (list && !list[1]) g.only = list[0];
    free(list);
    if (gpu_options_of(o->devices[0])) g.jobs = 1; /* another one beside it would be foreign load */
    if (o->shards) g.shard = o->shard - 1, g.shards = o->shards;
    g.grade.seed = seed;
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
    case FORMAT_JSON: return export_json(s, f, e);
    case FORMAT_JUNIT: return export_junit(s, f, e);
    case FORMAT_TAP: return export_tap(s, f, e);
    default: return err_set(e, ERR_INPUT, "--format gradescope goes with grader run");
    }
}

int cli_class_status(struct store *s, struct err *e) {
    long long broken = store_number(s, e, "SELECT count(*) FROM gradebook WHERE verdict = 'IE'");
    long long others = store_number(s, e, "SELECT count(*) FROM gradebook WHERE coalesce(verdict, state) <> 'AC'");
    return broken < 0 || others < 0 ? cli_complain(e) : broken ? EXIT_BROKEN : others ? EXIT_FAILED : EXIT_PASSED;
}

bool cli_class_open(const struct options *o, unsigned least, const char *usage, struct store *s, struct err *e) {
    if (o->nnames < least) return err_set(e, ERR_INPUT, "%s takes %s", o->command, usage);
    return store_open(s, o->names[0], false, e);
}
