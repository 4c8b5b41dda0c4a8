/* cmd_batch.c — grader batch PATH…: takes a class's submissions into a store, grades them and
 * writes the gradebook. A PATH is a folder of submissions, or one submission (plan.h). Without
 * --store it uses a temporary store. */
#include "grader/cli/class_copies.h"
#include "grader/cli/vary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool import_submissions(const struct options *o, struct store *s, struct err *e) {
    const struct exercise **list = cli_class_list(o, e);
    unsigned entry_count = 0;
    bool ok = list && cli_class_intake(o, s, list, &entry_count, e);
    free(list);
    if (ok && store_query_int(s, e, "SELECT count(*) FROM submission") == 0)
        return err_set(e, ERR_INPUT,
                       "no submissions among %u entries; batch needs a folder or an archive for "
                       "each student, with files such as 02-coalescing/transpose.cu (`grader "
                       "intake` shows what it did with each entry)",
                       entry_count);
    return ok;
}

/* Returns false if so many submissions are unclear that the intake itself may be wrong. */
static bool check_unclear(const struct options *o, struct store *s, struct err *e) {
    long long n = class_count_unclear(s, e);
    if (n < 0 || n <= CLASS_FEW_UNCLEAR || o->accept_unclear) return n >= 0;
    return err_set(e, ERR_INPUT,
                   "%lld students or entries are unclear, so nothing was graded: `grader intake` "
                   "with the same arguments lists them with the reasons; fix them, or add "
                   "--accept-unclear to grade the others",
                   n);
}

/* Copies the seed to use: the one of the command line, else the store's, which the first run saved.
 * Of graders that start at the same time on an empty store, one saves its seed for all. */
static bool choose_seed(const struct options *o, struct store *s, char seed[65], struct err *e) {
    snprintf(seed, 65, "%s", o->seed);
    if (o->has_seed) return class_save_seed(s, seed, e);
    return class_save_first_seed(s, seed, e) && class_load_seed(s, seed, e);
}

/* Warns about students whose submission time is unknown; they count as on time. */
static void warn_missing_times(const struct options *o, struct store *s) {
    struct err e = {0};
    if (!o->loaded_assignment || !o->loaded_assignment->has_deadline || vary_copy_number(NULL))
        return;
    long long n = store_query_int(
        s, &e, "SELECT count(*) FROM student WHERE submitted_at = '' AND entries > 0");
    if (n > 0)
        fprintf(stderr,
                "grader: warning: students without a submission time: %lld; they count as on time "
                "(add a column submitted_at to the roster, or for Moodle's worksheet utc_offset to "
                "the assignment)\n",
                n);
}

static bool batch_with_options(const struct options *o, struct store *s, FILE *f, struct err *e) {
    char seed[65];
    if (o->noperands ? !import_submissions(o, s, e)
                     : o->loaded_assignment && !assignment_save(o->loaded_assignment, s, e))
        return false;
    if (!check_unclear(o, s, e)) return false;
    warn_missing_times(o, s);
    return choose_seed(o, s, seed, e) && cli_class_grade(o, s, seed, false, e) &&
           (!cli_copies_are_used(o) || cli_copies_run(o, s, "batch", seed, NULL, e)) &&
           cli_class_export(o, s, f, e);
}

static bool batch(const struct options *o, struct store *s, FILE *f, struct err *e) {
    struct assignment a;
    struct options effective;
    if (!cli_class_assignment(o, s, &a, &effective, e)) return false;
    bool ok = batch_with_options(&effective, s, f, e);
    assignment_free(&a);
    return ok;
}

int cmd_batch(const struct options *o) {
    struct err e = {0};
    struct store s;
    struct file_out out;
    if (!o->noperands && !o->store)
        return err_set(&e, ERR_INPUT, "batch takes folders or archives, or --store"),
               cli_report_error(&e);
    if (o->format == FORMAT_GRADESCOPE || o->format == FORMAT_CLASSROOM ||
        o->format == FORMAT_AUTOLAB)
        return err_set(&e, ERR_INPUT,
                       "--format gradescope, classroom and autolab apply only to `grader run`"),
               cli_report_error(&e);
    if (!file_open(o->output, &out, &e))
        return cli_report_error(&e); /* now, not after a night of grading */
    bool is_open = store_open(&s, o->store, true, &e), ok = is_open && batch(o, &s, out.f, &e);
    ok = file_close(&out, ok, &e) && ok;
    int status = ok ? cli_class_exit_status(&s, &e) : cli_report_error(&e);
    if (is_open) store_close(&s);
    return status;
}
