/* cmd_stats.c — grader stats STORE: shows verdicts, scores and the most frequent failures. */
#include "grader/cli/class_args.h"

int cmd_stats(const struct options *o) {
    struct err e = {0};
    struct store s;
    struct file_out out;
    if (!cli_class_open(o, 1, "a store that `grader batch --store` made", &s, &e))
        return cli_report_error(&e);
    bool ok = file_open(o->output, &out, &e);
    if (ok) {
        ok = o->format == FORMAT_HTML ? export_stats_html(&s, out.f, &e)
                                      : export_stats(&s, out.f, &e);
        ok = file_close(&out, ok, &e) && ok;
    }
    store_close(&s);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
