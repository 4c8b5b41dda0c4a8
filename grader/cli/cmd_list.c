/* cmd_list.c — grader list: chapters, exercises, and how far each one is. */
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum verdict verdict_of(const char *code) {
    for (int v = 0; v < V_COUNT; v++)
        if (!strcmp(verdict_code(v), code)) return v;
    return V_IE;
}

static void line(const struct exercise *ex, const struct report_style *s, struct buf *out) {
    struct progress p;
    progress_load(ex, &p);
    enum verdict v = verdict_of(p.verdict);
    const char *colour = p.verdict[0] ? report_ink(s, report_ink_of(v)) : report_ink(s, INK_DIM);
    buf_printf(out, "  %-20s %s%-5s%s ", ex->name, colour, p.verdict[0] ? p.verdict : "-", report_ink(s, INK_NONE));
    if (p.verdict[0]) buf_printf(out, "%5.1f  ", p.score);
    else buf_printf(out, "%5s  ", "");
    buf_printf(out, "%s%s", ex->title, p.hints ? "" : "\n");
    if (p.hints) buf_printf(out, "  %s(hints seen: %u)%s\n", report_ink(s, INK_DIM), p.hints, report_ink(s, INK_NONE));
}

int cmd_list(const struct options *o) {
    struct err e = {0};
    struct buf out = {0};
    struct report_style style = o->output ? (struct report_style){0} : cli_style_for(1);
    const struct exercise **list = cli_chosen(o, &e);
    if (!list) return cli_complain(&e);
    for (unsigned i = 0; list[i]; i++) {
        if (i == 0 || strcmp(list[i]->chapter, list[i - 1]->chapter))
            buf_printf(&out, "%s%s%s\n", report_ink(&style, INK_BOLD), list[i]->chapter, report_ink(&style, INK_NONE));
        line(list[i], &style, &out);
    }
    bool ok = cli_deliver(o, &out, &e);
    buf_free(&out);
    free(list);
    return ok ? EXIT_PASSED : cli_complain(&e);
}
