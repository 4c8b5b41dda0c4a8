/* cmd_compare.c — grader compare OLD NEW: lists the students whose grade differs between two
 * stores, and what changed of the things that the grade depends on. */
#include "grader/class/compare.h"
#include "grader/cli/class_args.h"

#include <stdio.h>

static void print_summary(const struct comparison *c) {
    struct buf text = {0};
    buf_printf(&text, "%lld grade%s differ%s; %lld in both stores", c->changed,
               c->changed == 1 ? "" : "s", c->changed == 1 ? "s" : "", c->common);
    if (c->has_means) buf_printf(&text, ", mean score %.1f -> %.1f", c->old_mean, c->new_mean);
    fprintf(stderr, "%s\n", buf_str(&text));
    buf_free(&text);
}

int cmd_compare(const struct options *o) {
    struct err e = {0};
    struct store s;
    struct file_out out;
    struct comparison c;
    if (o->format != FORMAT_TEXT && o->format != FORMAT_CSV)
        return err_set(&e, ERR_INPUT, "compare writes --format text or csv"), cli_report_error(&e);
    if (!cli_class_open(o, 2, "two stores, the older one first", &s, &e))
        return cli_report_error(&e);
    bool ok = file_open(o->output, &out, &e);
    if (ok) {
        ok = class_compare(&s, o->operands[1], o->format == FORMAT_CSV, out.f, &c, &e);
        ok = file_close(&out, ok, &e) && ok;
    }
    store_close(&s);
    if (!ok) return cli_report_error(&e);
    print_summary(&c);
    return c.changed ? EXIT_FAILED : EXIT_PASSED;
}
