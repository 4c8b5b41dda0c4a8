/* cmd_list.c — grader list: chapters, exercises, and how far each one is. */
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE = 34 };

struct total {
    unsigned exercises, done, tried;
    double points;
};

static enum verdict verdict_of(const char *code) {
    for (int v = 0; v < V_COUNT; v++)
        if (!strcmp(verdict_code(v), code)) return v;
    return V_IE;
}

/* A line of 80 columns: state, points, title. */
static void line(const struct exercise *ex, const struct report_style *s, struct total *total,
                 struct buf *out) {
    struct progress p;
    progress_load(ex, &p);
    bool begun = !progress_untouched(ex), done = begun && !strcmp(p.verdict, "AC");
    enum verdict v = verdict_of(p.verdict);
    const char *colour = begun && p.verdict[0] ? report_style_escape(s, report_verdict_style(v))
                                               : report_style_escape(s, TEXT_STYLE_DIM);
    const char *state = !begun ? "not started" : done ? "done" : "tried";
    buf_printf(out, "  %-18s %s%-11s%s ", ex->name, colour, state,
               report_style_escape(s, TEXT_STYLE_NONE));
    if (begun && p.verdict[0]) buf_printf(out, "%-4s %5.1f", p.verdict, p.score);
    else buf_printf(out, "%10s", "");
    if (begun && p.verdict[0]) total->points += p.score;
    total->exercises++, total->done += done, total->tried += begun && !done;
    bool whole = strlen(ex->title) <= TITLE;
    buf_printf(out, "  %.*s%s", whole ? TITLE : TITLE - 1, ex->title, whole ? "" : "…");
    if (p.hints)
        buf_printf(out, " %s(%u hint%s)%s", report_style_escape(s, TEXT_STYLE_DIM), p.hints,
                   p.hints == 1 ? "" : "s", report_style_escape(s, TEXT_STYLE_NONE));
    buf_puts(out, "\n");
}

int cmd_list(const struct options *o) {
    struct err e = {0};
    struct buf out = {0};
    struct total total = {0};
    struct report_style style = o->output ? (struct report_style){0} : cli_style_for(1);
    const struct exercise **list = cli_chosen(o, &e);
    if (!list) return cli_complain(&e);
    for (unsigned i = 0; list[i]; i++) {
        if (i == 0 || strcmp(list[i]->chapter, list[i - 1]->chapter))
            buf_printf(&out, "%s%s%s\n", report_style_escape(&style, TEXT_STYLE_BOLD),
                       list[i]->chapter, report_style_escape(&style, TEXT_STYLE_NONE));
        line(list[i], &style, &total, &out);
    }
    buf_printf(&out, "\n%u of %u done, %u tried, %u not started; %.1f of %u points\n", total.done,
               total.exercises, total.tried, total.exercises - total.done - total.tried,
               total.points, 100 * total.exercises);
    bool ok = cli_deliver(o, &out, &e);
    buf_free(&out);
    free(list);
    return ok ? EXIT_PASSED : cli_complain(&e);
}
