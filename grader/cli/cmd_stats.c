/* cmd_stats.c — grader stats STORE: shows verdicts, scores and the most frequent failures. grader
 * leaderboard STORE: writes a page that ranks the students. */
#include "grader/cli/class_args.h"

typedef bool write_function(const struct options *o, struct store *s, FILE *f, struct err *e);

static int write_from_store(const struct options *o, write_function *write) {
    struct err e = {0};
    struct store s;
    struct file_out out;
    if (!cli_class_open(o, 1, "a store that `grader batch --store` made", &s, &e))
        return cli_report_error(&e);
    bool ok = file_open(o->output, &out, &e);
    if (ok) {
        ok = write(o, &s, out.f, &e);
        ok = file_close(&out, ok, &e) && ok;
    }
    store_close(&s);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}

static bool write_stats(const struct options *o, struct store *s, FILE *f, struct err *e) {
    return o->format == FORMAT_HTML ? export_stats_html(s, f, e) : export_stats(s, f, e);
}

static bool write_leaderboard(const struct options *o, struct store *s, FILE *f, struct err *e) {
    return export_leaderboard(s, o->anonymous, f, e);
}

int cmd_stats(const struct options *o) { return write_from_store(o, write_stats); }

int cmd_leaderboard(const struct options *o) { return write_from_store(o, write_leaderboard); }
