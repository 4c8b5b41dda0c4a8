/* cmd_intake.c — grader intake PATH…: shows which submissions of a class are taken, left out or
 * unclear. With --store it keeps them, and `grader batch` grades them later. */
#include "grader/cli/class_args.h"

#include <stdlib.h>

static bool write_intake(const struct options *o, struct store *s, FILE *f, struct err *e) {
    if (o->format == FORMAT_TEXT) return export_intake_text(s, f, e);
    if (o->format == FORMAT_CSV) return export_intake_csv(s, f, e);
    if (o->format == FORMAT_JSON) return export_intake_json(s, f, e);
    return err_set(e, ERR_INPUT, "intake writes --format text, csv or json");
}

/* Returns exit status 1 if an entry is unclear, so that a person has to look at it. */
int cmd_intake(const struct options *command_line) {
    struct err e = {0};
    struct assignment a;
    struct options effective, *o = &effective;
    struct store s;
    struct file_out out;
    unsigned entry_count;
    if (!cli_class_assignment(command_line, NULL, &a, &effective, &e)) return cli_report_error(&e);
    if (!o->noperands)
        return err_set(&e, ERR_INPUT, "intake takes folders or archives"), cli_report_error(&e);
    if (!file_open(o->output, &out, &e)) return cli_report_error(&e);
    const struct exercise **list = cli_class_list(o, &e);
    bool is_open = list && store_open(&s, o->dry_run ? NULL : o->store, true, &e);
    bool ok = is_open && cli_class_intake(o, &s, list, &entry_count, &e) &&
              write_intake(o, &s, out.f, &e);
    long long review_count =
        ok ? store_query_int(&s, &e, "SELECT count(*) FROM intake WHERE state = 'unclear'") +
                 store_query_int(&s, &e, "SELECT count(*) FROM submission WHERE state = 'unclear'")
           : 0;
    ok = file_close(&out, ok, &e) && ok;
    if (is_open) store_close(&s);
    free(list), assignment_free(&a);
    return !ok ? cli_report_error(&e) : review_count ? EXIT_FAILED : EXIT_PASSED;
}
