/* cmd_decide.c — grader decide STORE [STUDENT [EXERCISE]]: adds what an instructor decides about a
 * student; without a student, shows the history. grader forget STORE STUDENT: removes a student.
 * grader anonymize STORE COPY: writes a store without names. */
#include "grader/class/decision.h"
#include "grader/class/pseudonym.h"
#include "grader/cli/class_args.h"

#include <stdlib.h>

/* Returns the number of kinds that the options give, and points `d` at the last one. */
static unsigned choose_kind(const struct options *o, struct decision *d) {
    unsigned n = 0;
    for (unsigned k = 0; k < sizeof o->decisions / sizeof *o->decisions; k++)
        if (o->decisions[k]) d->kind = (enum decision_kind)k, d->value = o->decisions[k], n++;
    return n;
}

static bool decide(const struct options *o, struct store *s, struct err *e) {
    struct decision d = {.student = o->operands[1],
                         .exercise = "",
                         .line = o->line,
                         .reason = o->reason ? o->reason : "",
                         .author = o->author ? o->author : ""};
    if (choose_kind(o, &d) != 1)
        return err_set(
            e, ERR_INPUT,
            "decide takes one of --score N, --excused yes, --deadline TIME, --comment TEXT, "
            "--request TEXT, --answer TEXT, --partner STUDENT, --moderated yes and "
            "--blind-score N");
    if (o->line && d.kind != DECISION_comment)
        return err_set(e, ERR_INPUT, "--line applies to --comment");
    const struct exercise **found = o->noperands > 2 ? book_find(o->operands[2], e) : NULL;
    if (o->noperands > 2 && !found) return false;
    if (found) d.exercise = book_id(found[0]);
    free(found);
    return decision_add(s, &d, e);
}

static bool show_history(const struct options *o, struct store *s, struct err *e) {
    struct file_out out;
    if (!file_open(o->output, &out, e)) return false;
    bool ok = o->format == FORMAT_CSV ? decision_export_csv(s, out.f, e)
                                      : decision_export_text(s, out.f, e);
    return file_close(&out, ok, e) && ok;
}

int cmd_decide(const struct options *o) {
    struct err e = {0};
    struct store s;
    if (!cli_class_open(o, 1, "a store, a student and an exercise", &s, &e))
        return cli_report_error(&e);
    bool ok = o->noperands > 1 ? decide(o, &s, &e) : show_history(o, &s, &e);
    store_close(&s);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}

int cmd_forget(const struct options *o) {
    struct err e = {0};
    struct store s;
    long long result_count;
    if (!cli_class_open(o, 2, "a store and a student", &s, &e)) return cli_report_error(&e);
    bool ok = decision_forget(&s, o->operands[1], &result_count, &e);
    store_close(&s);
    if (!ok) return cli_report_error(&e);
    printf(
        "forgot %s, with %lld results; remove the student from the roster, the submissions and the "
        "pages, too, and run `grader cache clear`\n",
        o->operands[1], result_count);
    return EXIT_PASSED;
}

int cmd_anonymize(const struct options *o) {
    struct err e = {0};
    struct store s;
    if (!cli_class_open(o, 2, "a store and the file of the new one", &s, &e))
        return cli_report_error(&e);
    bool ok = pseudonym_copy_store(&s, o->operands[1], &e);
    store_close(&s);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
