/* cmd_batch.c — grader batch PATH…: a class of submissions into a store, graded, and its gradebook.
 * A PATH is a folder of submissions, or one submission (plan.h). Without --store, the store is a
 * private one that goes with the command. */
#include "grader/cli/class_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_in(const struct options *o, struct store *s, struct err *e) {
    const struct exercise **list = cli_class_list(o, e);
    unsigned seen = 0;
    bool ok = list && cli_class_intake(o, s, list, &seen, e);
    free(list);
    if (ok && store_number(s, e, "SELECT count(*) FROM submission") == 0)
        return err_set(e, ERR_INPUT,
                       "no submissions found among %u entries: batch wants folders or archives of "
                       "students, each with "
                       "files such as "
                       "02-coalescing/transpose.cu; `grader intake` says what became of each entry",
                       seen);
    return ok;
}

/* One seed for a store: the first run's, unless another one is given. */
static bool settle_seed(const struct options *o, struct store *s, char seed[65], struct err *e) {
    if (!class_seed(s, seed, e)) return false;
    if (!o->seed_given && seed[0]) return true;
    snprintf(seed, 65, "%s", o->seed);
    return class_keep_seed(s, seed, e);
}

/* Whom nobody gave a time to is taken to be in time, and that is said. */
static void warn_of_times(const struct options *o, struct store *s) {
    struct err e = {0};
    if (!o->terms || !o->terms->timed) return;
    long long n =
        store_number(s, &e, "SELECT count(*) FROM student WHERE submitted_at = '' AND entries > 0");
    if (n > 0)
        fprintf(stderr,
                "grader: warning: of %lld students nothing says when they handed in; they count as "
                "in time (a column "
                "submitted_at of"
                " the roster says it)\n",
                n);
}

static bool batch_by(const struct options *o, struct store *s, FILE *f, struct err *e) {
    char seed[65];
    if (o->nnames ? !read_in(o, s, e) : o->terms && !assignment_store(o->terms, s, e)) return false;
    warn_of_times(o, s);
    return settle_seed(o, s, seed, e) && cli_class_grade(o, s, seed, false, e) &&
           cli_class_write(o, s, f, e);
}

static bool batch(const struct options *o, struct store *s, FILE *f, struct err *e) {
    struct assignment a;
    struct options by;
    if (!cli_class_assignment(o, s, &a, &by, e)) return false;
    bool ok = batch_by(&by, s, f, e);
    assignment_free(&a);
    return ok;
}

int cmd_batch(const struct options *o) {
    struct err e = {0};
    struct store s;
    struct file_out out;
    if (!o->nnames && !o->store)
        return err_set(&e, ERR_INPUT, "batch takes folders or archives, or --store"),
               cli_complain(&e);
    if (o->format == FORMAT_GRADESCOPE || o->format == FORMAT_CLASSROOM)
        return err_set(&e, ERR_INPUT, "--format gradescope and classroom go with grader run"),
               cli_complain(&e);
    if (!file_open(o->output, &out, &e))
        return cli_complain(&e); /* a night's work must not end at its last step */
    bool opened = store_open(&s, o->store, true, &e), ok = opened && batch(o, &s, out.f, &e);
    ok = file_close(&out, ok, &e) && ok;
    int status = ok ? cli_class_status(&s, &e) : cli_complain(&e);
    if (opened) store_close(&s);
    return status;
}
