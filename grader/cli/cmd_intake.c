/* cmd_intake.c — grader intake PATH…: what a class handed in, taken and left out; with --store it
 * stays, for batch to grade. */
#include "grader/cli/class_args.h"

#include <stdlib.h>

static bool write_found(const struct options *o, struct store *s, FILE *f, struct err *e) {
    if (o->format == FORMAT_TEXT) return export_intake_text(s, f, e);
    if (o->format == FORMAT_CSV) return export_intake_csv(s, f, e);
    if (o->format == FORMAT_JSON) return export_intake_json(s, f, e);
    return err_set(e, ERR_INPUT, "intake writes --format text, csv or json");
}

/* 1 where a person has to look at something. */
int cmd_intake(const struct options *typed) {
    struct err e = {0};
    struct assignment a;
    struct options by, *o = &by;
    struct store s;
    struct file_out out;
    unsigned seen;
    if (!cli_class_assignment(typed, NULL, &a, &by, &e)) return cli_complain(&e);
    if (!o->nnames)
        return err_set(&e, ERR_INPUT, "intake takes folders or archives"), cli_complain(&e);
    if (!file_open(o->output, &out, &e)) return cli_complain(&e);
    const struct exercise **list = cli_class_list(o, &e);
    bool opened = list && store_open(&s, o->dry_run ? NULL : o->store, true, &e);
    bool ok = opened && cli_class_intake(o, &s, list, &seen, &e) && write_found(o, &s, out.f, &e);
    long long doubt =
        ok ? store_number(&s, &e, "SELECT count(*) FROM intake WHERE state = 'unclear'") +
                 store_number(&s, &e, "SELECT count(*) FROM submission WHERE state = 'unclear'")
           : 0;
    ok = file_close(&out, ok, &e) && ok;
    if (opened) store_close(&s);
    free(list), assignment_free(&a);
    return !ok ? cli_complain(&e) : doubt ? EXIT_FAILED : EXIT_PASSED;
}
