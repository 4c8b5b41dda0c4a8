/* cmd_list.c — grader list: shows chapters, exercises and the student's progress. */
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE_WIDTH = 34 };

struct list_totals {
    unsigned exercise_count, done_count, tried_count;
    double points;
};

static enum verdict verdict_of(const char *code) {
    for (int v = 0; v < V_COUNT; v++)
        if (!strcmp(verdict_code(v), code)) return v;
    return V_IE;
}

/* Appends a line of about 80 columns: name, state, verdict, score, title. */
static void put_line(const struct exercise *ex, const struct report_style *s,
                     struct list_totals *totals, struct buf *out) {
    struct progress p;
    progress_load(ex, &p);
    bool is_started = !progress_is_unmodified(ex), is_done = is_started && !strcmp(p.verdict, "AC");
    enum verdict v = verdict_of(p.verdict);
    const char *colour = is_started && p.verdict[0]
                             ? report_style_escape(s, report_verdict_style(v))
                             : report_style_escape(s, TEXT_STYLE_DIM);
    const char *state = !is_started ? "not started" : is_done ? "done" : "tried";
    buf_printf(out, "  %-18s %s%-11s%s ", ex->name, colour, state,
               report_style_escape(s, TEXT_STYLE_NONE));
    if (is_started && p.verdict[0]) buf_printf(out, "%-4s %5.1f", p.verdict, p.score);
    else buf_printf(out, "%10s", "");
    if (is_started && p.verdict[0]) totals->points += p.score;
    totals->exercise_count++, totals->done_count += is_done,
        totals->tried_count += is_started && !is_done;
    bool fits = strlen(ex->title) <= TITLE_WIDTH;
    buf_printf(out, "  %.*s%s", fits ? TITLE_WIDTH : TITLE_WIDTH - 1, ex->title, fits ? "" : "…");
    if (p.hint_count)
        buf_printf(out, " %s(%u hint%s)%s", report_style_escape(s, TEXT_STYLE_DIM), p.hint_count,
                   p.hint_count == 1 ? "" : "s", report_style_escape(s, TEXT_STYLE_NONE));
    buf_puts(out, "\n");
}

int cmd_list(const struct options *o) {
    struct err e = {0};
    struct buf out = {0};
    struct list_totals totals = {0};
    struct report_style style = o->output ? (struct report_style){0} : cli_style_for(1);
    const struct exercise **list = cli_select_exercises(o, &e);
    if (!list) return cli_report_error(&e);
    for (unsigned i = 0; list[i]; i++) {
        if (i == 0 || strcmp(list[i]->chapter, list[i - 1]->chapter))
            buf_printf(&out, "%s%s%s\n", report_style_escape(&style, TEXT_STYLE_BOLD),
                       list[i]->chapter, report_style_escape(&style, TEXT_STYLE_NONE));
        put_line(list[i], &style, &totals, &out);
    }
    buf_printf(&out, "\n%u of %u done, %u tried, %u not started; %.1f of %u points\n",
               totals.done_count, totals.exercise_count, totals.tried_count,
               totals.exercise_count - totals.done_count - totals.tried_count, totals.points,
               100 * totals.exercise_count);
    bool ok = cli_write_output(o, &out, &e);
    buf_free(&out);
    free(list);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
