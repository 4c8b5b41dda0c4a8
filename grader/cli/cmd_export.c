/* cmd_export.c — grader export STORE: writes the gradebook in the format of --format, without
 * grading. */
#include "grader/cli/class_args.h"

int cmd_export(const struct options *o) {
    struct err e = {0};
    struct store s;
    struct file_out out;
    if (!cli_class_open(o, 1, "a store that `grader batch --store` made", &s, &e))
        return cli_report_error(&e);
    bool ok = file_open(o->output, &out, &e);
    if (ok) {
        ok = cli_class_export(o, &s, out.f, &e);
        ok = file_close(&out, ok, &e) && ok;
    }
    store_close(&s);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
